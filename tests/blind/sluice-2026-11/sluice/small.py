"""Movements of Vars that the decompositions use."""
import numpy as np

from .tape import fit, node


def reshape(x, shape):
    return node(np.reshape(x.a, shape), (x, lambda g: np.reshape(g, x.shape), lambda d: np.reshape(d, shape)))


def permute(x, order):
    back = np.argsort(order)
    return node(np.transpose(x.a, order), (x, lambda g: np.transpose(g, back), lambda d: np.transpose(d, order)))


def expand(x, shape):
    return node(np.broadcast_to(x.a, shape), (x, lambda g: fit(g, x.shape), lambda d: np.broadcast_to(d, shape)))


def part(x, *at):
    """A basic index: slices and integers."""
    def back(g):
        y = np.zeros(x.shape, np.asarray(g).dtype)
        y[at] = g
        return y
    return node(x.a[at], (x, back, lambda d: d[at]))


def on_axis(x, axis, rank):
    """A vector along one of `rank` axes."""
    return reshape(x, [-1 if i == axis else 1 for i in range(rank)]) if x.a.size else \
        reshape(x, [0 if i == axis else 1 for i in range(rank)])


def on_axes(x, axes, rank):
    """A tensor whose axes stand at the listed axes."""
    order = list(np.argsort(axes))
    shape = [1] * rank
    for a in axes:
        shape[a] = x.shape[list(axes).index(a)]
    return reshape(permute(x, order), shape)
