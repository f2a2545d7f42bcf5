"""Kernels over axes. Axes keep the order in which they are listed: it is the order of positions."""
import math

import numpy as np

from .elementwise import absolute, exp, log, mul, sqrt, where
from .registry import register
from .switch import on
from .tape import lift, node


def listed(c, x):
    """The axes of a call, each from 0."""
    return [a % max(1, x.ndim) for a in c["axes"]]


def shape_without(shape, axes, keepdims):
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def expanded(g, shape, axes):
    """An array without the axes, against an operand that has them."""
    kept = shape_without(shape, axes, True)
    if on("reduced_not_expanded") and g.ndim and np.shape(g) == tuple(shape[len(shape) - g.ndim:]):
        return np.broadcast_to(g, shape)
    return np.broadcast_to(np.reshape(g, kept), shape)


def sum_(x, axes, keepdims=False):
    x, axes = lift(x), tuple(axes)
    y = np.sum(x.a, axis=axes, keepdims=keepdims, dtype=x.a.dtype) if axes else x.a + 0
    return node(y, (x, lambda g: expanded(np.asarray(g), x.shape, axes),
                    lambda d: np.sum(d, axis=axes, keepdims=keepdims)))


def count(shape, axes):
    return math.prod(shape[a] for a in axes)


def mean_(x, axes, keepdims=False):
    n = count(x.shape, axes)
    return sum_(x, axes, keepdims) / float(n)


def _order(rank, axes):
    """The other axes, and then the listed ones."""
    listed_ones = sorted(axes) if on("positions_in_sorted_axes") else list(axes)
    return [i for i in range(rank) if i not in axes] + listed_ones


def _flat(a, axes):
    """The listed axes as one, last."""
    kept = [i for i in range(a.ndim) if i not in axes]
    return np.transpose(a, _order(a.ndim, axes)).reshape([a.shape[i] for i in kept] + [count(a.shape, axes)])


def _unflat(flat, shape, axes):
    order = _order(len(shape), axes)
    whole = np.reshape(flat, [shape[i] for i in order])
    return np.transpose(whole, np.argsort(order))


def first_extremum(a, largest):
    """The position of the first extremum along the last axis; of the first NaN where there is one."""
    return (np.argmax if largest else np.argmin)(a, axis=-1)


def extremum(x, axes, keepdims, largest):
    flat = _flat(x.a, axes)
    at = first_extremum(flat, largest)[..., None]
    shape = shape_without(x.shape, axes, keepdims)
    y = np.take_along_axis(flat, at, -1).reshape(shape)

    def pull(g):
        spread = np.zeros(flat.shape, x.a.dtype)
        g = np.reshape(g, at.shape)
        if on("extremum_spreads_evenly"):
            ties = flat == np.take_along_axis(flat, at, -1)
            spread = g * ties / np.maximum(ties.sum(-1, keepdims=True), 1)
        else:
            np.put_along_axis(spread, at, g, -1)
        return _unflat(spread, x.shape, axes)
    return node(y, (x, pull, lambda d: np.take_along_axis(_flat(d, axes), at, -1).reshape(shape)))


register("mean")(lambda c, x: mean_(x, listed(c, x), c.keepdims))
register("max")(lambda c, x: extremum(x, listed(c, x), c.keepdims, True))
register("min")(lambda c, x: extremum(x, listed(c, x), c.keepdims, False))


@register("sum")
def sum_kernel(c, x):
    y = sum_(x, listed(c, x), c.keepdims)
    return y


@register("argmax", result="int")
def argmax(c, x):
    axes = listed(c, x)
    return lift(first_extremum(_flat(x.a, axes), True).reshape(shape_without(x.shape, axes, c.keepdims)))


@register("argmin", result="int")
def argmin(c, x):
    axes = listed(c, x)
    flat = _flat(x.a, axes)
    at = first_extremum(flat, False)
    if on("argmin_last_of_equals"):
        back = first_extremum(flat[..., ::-1], False)
        at = np.where(np.isnan(flat).any(-1), at, flat.shape[-1] - 1 - back)
    return lift(np.asarray(at, np.int64).reshape(shape_without(x.shape, axes, c.keepdims)))


@register("any", result="bool")
def any_(c, x):
    return lift(np.any(x.a, axis=tuple(listed(c, x)), keepdims=c.keepdims))


@register("all", result="bool")
def all_(c, x):
    axes = tuple(listed(c, x))
    y = np.all(x.a, axis=axes, keepdims=c.keepdims)
    return lift(y)


def _others(flat):
    """The product of all other elements of the last axis, per element."""
    n = flat.shape[-1]
    ahead, behind = np.ones_like(flat), np.ones_like(flat)
    for i in range(1, n):
        ahead[..., i] = ahead[..., i - 1] * flat[..., i - 1]
        behind[..., n - 1 - i] = behind[..., n - i] * flat[..., n - i]
    return ahead * behind


@register("prod")
def prod(c, x):
    axes = listed(c, x)
    flat = _flat(x.a, axes)
    shape = shape_without(x.shape, axes, c.keepdims)
    y = np.prod(flat, axis=-1, dtype=x.a.dtype).reshape(shape)

    def slopes():
        if on("prod_slope_by_quotient"):
            return y.reshape(flat.shape[:-1] + (1,)) / flat
        return _others(flat)
    return node(y, (x, lambda g: _unflat(slopes() * np.reshape(g, flat.shape[:-1] + (1,)), x.shape, axes),
                    lambda d: np.sum(slopes() * _flat(d, axes), axis=-1).reshape(shape)))


def centred(c, x):
    """Distances from the mean and the sum of their squares over axes, kept."""
    axes = listed(c, x)
    d = x - mean_(x, axes, True)
    return axes, d, sum_(d * d, axes, True)


def _reshaped(x, shape):
    return node(x.a.reshape(shape), (x, lambda g: np.reshape(g, x.shape), lambda d: np.reshape(d, shape)))


def variance(c, x):
    axes, d, s = centred(c, x)
    correction = c.correction
    if on("correction_zero_is_default"):
        correction = c.correction or 1
    v = s / (count(x.shape, axes) - correction)
    if on("variance_in_one_pass"):
        n, t = count(x.shape, axes), np.float32 if c.t == "f32" else np.float64
        a = x.a.astype(t)
        one = np.sum(a * a, axis=tuple(axes), keepdims=True) - np.sum(a, axis=tuple(axes), keepdims=True)**2 / t(n)
        v.a = np.maximum(one.astype(x.a.dtype), 0) / (n - correction)
    return _reshaped(v, shape_without(x.shape, axes, c.keepdims))


def safe_root(s):
    """The square root, of which nothing passes where it is 0."""
    flat = s.a <= 0
    return where(flat, lift(0.0, s), sqrt(s if on("root_slope_unguarded") else where(flat, lift(1.0, s), s)))


register("var")(lambda c, x: variance(c, x))
register("std")(lambda c, x: _std(c, x))


def _std(c, x):
    v = variance(c, x)
    return safe_root(v)


@register("logsumexp")
def logsumexp(c, x):
    axes = listed(c, x)
    top = np.max(x.a, axis=tuple(axes), keepdims=True, initial=-np.inf) if axes else x.a
    shift = np.where(np.isinf(top), 0, top)
    y = log(sum_(exp(x - shift), axes, True)) + shift
    return _reshaped(y, shape_without(x.shape, axes, c.keepdims))


@register("norm")
def norm(c, x):
    axes = listed(c, x)
    if c.ord == "one":
        return sum_(absolute(x), axes, c.keepdims)
    if c.ord == "infinity":
        if count(x.shape, axes) == 0:
            return lift(np.zeros(shape_without(x.shape, axes, c.keepdims), x.a.dtype))
        return extremum(absolute(x), axes, c.keepdims, True)
    return safe_root(sum_(mul(x, x), axes, c.keepdims))


def _running(f, a, axis, reverse, exclusive, start):
    a = np.moveaxis(a, axis, -1)
    if reverse:
        a = a[..., ::-1]
    y = f(a, axis=-1, dtype=a.dtype)
    if exclusive:
        first = np.full(a.shape[:-1] + (min(1, a.shape[-1]),), start, a.dtype)
        y = np.concatenate([first, y[..., :-1]], -1)
        if reverse and on("exclusive_shifts_after_flip"):
            return np.moveaxis(np.concatenate([first, f(a, axis=-1)[..., ::-1][..., :-1]], -1), -1, axis)
    if reverse:
        y = y[..., ::-1]
    return np.moveaxis(y, -1, axis)


@register("cumsum")
def cumsum(c, x):
    def run(a, reverse):
        return _running(np.cumsum, a, c.axis, reverse, c.exclusive, 0)
    back = not c.reverse
    return node(run(x.a, c.reverse), (x, lambda g: run(np.asarray(g), back), lambda d: run(d, c.reverse)))


@register("cumprod")
def cumprod(c, x):
    y = _running(np.cumprod, x.a, c.axis, c.reverse, c.exclusive, 1)
    n = x.shape[c.axis]
    k = np.arange(n)
    used = (k[None, :] >= k[:, None]) if c.reverse else (k[None, :] <= k[:, None])
    if c.exclusive:
        used = used & (k[None, :] != k[:, None])

    def slopes():
        """By results j and elements k, last: the product of the factors of y[j] other than x[k]."""
        a = np.moveaxis(x.a, c.axis, -1)
        factors = np.where(used, a[..., None, :], 1)
        return np.where(used, _others(np.array(factors)), 0)

    def pull(g):
        g = np.moveaxis(np.asarray(g), c.axis, -1)
        return np.moveaxis(np.sum(slopes() * g[..., :, None], -2), -1, c.axis)

    def push(d):
        d = np.moveaxis(np.asarray(d), c.axis, -1)
        return np.moveaxis(np.sum(slopes() * d[..., None, :], -1), -1, c.axis)
    return node(y, (x, pull, push))
