"""Reductions. An empty list of axes means all axes to PyTorch, so that one is not offered."""
import math

import torch

from table import moves, need, row


def axes_of(a, x):
    axes = [axis % max(1, x.dim()) for axis in a.axes]
    need(axes or x.dim() == 0, "attribute", "to PyTorch no axes are all axes")
    return axes


def each(function, a, x):
    """A function of one axis at a time, applied to several."""
    for axis in sorted(axes_of(a, x), reverse=True):
        x = function(x, axis, a.keepdims)
    return x


def joined(function, a, x):
    """A function of one axis, applied to several that are made one first, in the order in which they are listed."""
    axes = axes_of(a, x)
    kept = [n for axis, n in enumerate(x.shape) if axis not in axes]
    gone = math.prod(x.shape[axis] for axis in axes)
    y = function(torch.movedim(x, axes, list(range(-len(axes), 0))).reshape(*kept, gone) if axes else x.reshape(1))
    return y.reshape([1 if axis in axes else n for axis, n in enumerate(x.shape)]) if a.keepdims else y


@row()
def sum_(a, x):
    return torch.sum(x, axes_of(a, x), a.keepdims, dtype=x.dtype)


@row()
def mean(a, x):
    return torch.mean(x, axes_of(a, x), a.keepdims)


@row()
def prod(a, x):
    if x.dim() == 0:
        return torch.prod(x, dtype=x.dtype)
    return each(lambda x, axis, keep: torch.prod(x, axis, keep, dtype=x.dtype), a, x)


@row()
def any_(a, x):
    return torch.any(x) if x.dim() == 0 else each(torch.any, a, x)


@row()
def all_(a, x):
    return torch.all(x) if x.dim() == 0 else each(torch.all, a, x)


@row()
def max_(a, x):
    # Along one axis the first of equal extrema has the derivative; amax shares it.
    return joined(lambda x: torch.max(x, -1).values, a, x)


@row()
def min_(a, x):
    return joined(lambda x: torch.min(x, -1).values, a, x)


@row()
def argmax(a, x):
    return joined(lambda x: torch.argmax(x, -1), a, x)


@row()
def argmin(a, x):
    return joined(lambda x: torch.argmin(x, -1), a, x)


@row()
def var(a, x):
    return torch.var(x, axes_of(a, x), correction=a.correction, keepdim=a.keepdims)


@row()
def std(a, x):
    return torch.std(x, axes_of(a, x), correction=a.correction, keepdim=a.keepdims)


@row()
def logsumexp(a, x):
    return torch.logsumexp(x, axes_of(a, x), a.keepdims)


@row()
def norm(a, x):
    order = {"two": 2, "one": 1, "infinity": torch.inf}[a.ord]
    y = torch.linalg.vector_norm(x, order, axes_of(a, x), a.keepdims)
    if a.ord == "infinity" and moves(x):
        largest = torch.linalg.vector_norm(x.detach(), order, axes_of(a, x), True)
        need(((x.abs() == largest).sum(axes_of(a, x)) <= 1).all(), "request",
             "PyTorch shares the derivative among equal magnitudes")
    return y


@row()
def cumsum(a, x):
    forwards(a)
    return torch.cumsum(x, a.axis, dtype=x.dtype)


@row()
def cumprod(a, x):
    forwards(a)
    return torch.cumprod(x, a.axis, dtype=x.dtype)


def forwards(a):
    need(not a.reverse and not a.exclusive, "attribute", "PyTorch cumulates forwards and inclusively only")
