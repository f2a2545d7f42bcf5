"""Gathers and scatters. An index out of range reads 0, and nothing is written there."""
import numpy as np

from .registry import register
from .switch import on
from .tape import lift, node


def _valid(t, n):
    return (t >= 0) & (t < n)


def _reached(t, n, wraps=False):
    """Indices that can be used, and which of them count."""
    if wraps:
        t = np.where(t < 0, t + n, t)
    good = _valid(t, n)
    return np.where(good, t, 0), good


def gather_along(x, t, axis, wraps=False):
    """Slices of x at the indices t: the axis becomes those of t."""
    n = x.shape[axis]
    at, good = _reached(t, n, wraps)
    mask = good.reshape((1,) * axis + t.shape + (1,) * (x.ndim - axis - 1))

    def take(a):
        if n == 0:
            return np.zeros(a.shape[:axis] + t.shape + a.shape[axis + 1:], a.dtype)
        return np.where(mask, np.take(a, at, axis), np.zeros((), a.dtype))

    def back(g):
        y = np.zeros(x.shape, g.dtype)
        add_slices(y, t, g, axis)
        return y
    return node(take(x.a), (x, lambda g: back(np.asarray(g)), take))


def add_slices(y, t, s, axis):
    """Adds the slices of s to y at the indices t, in place; an index that comes twice adds twice."""
    good = _valid(t, y.shape[axis])
    front = np.moveaxis(y, axis, 0)
    rows = np.moveaxis(s, range(axis, axis + t.ndim), range(t.ndim))
    if on("scatter_add_buffered"):
        front[t[good]] += rows[good]
    else:
        np.add.at(front, t[good], rows[good])


@register("gather")
def gather(c, x, t):
    return gather_along(x, t.a, c.axis % x.ndim, on("gather_wraps_negative"))


@register("embedding")
def embedding(c, w, t):
    y = gather_along(w, t.a, 0)
    held = (t.a == c.padding_idx)[..., None]
    leaks = on("embedding_tangent_of_padding")
    return node(y.a, (y, lambda g: np.where(held, 0, g), lambda d: d if leaks else np.where(held, 0, d)))


@register("scatter_add")
def scatter_add(c, x, t, s):
    axis = c.axis % x.ndim

    def added(d):
        y = np.zeros(x.shape, d.dtype)
        add_slices(y, t.a, d, axis)
        return y
    pick = lambda g: gather_along(lift(g), t.a, axis).a
    return node(x.a + added(s.a), (x, lambda g: g, lambda d: d), (s, lambda g: pick(np.asarray(g)), added))


def _lines(a, axis):
    """The axis last and the others as one."""
    a = np.moveaxis(a, axis, -1)
    return a.reshape(-1, a.shape[-1]) if a.size else a.reshape(int(np.prod(a.shape[:-1])), a.shape[-1])


def _unlines(a, shape, axis):
    rest = tuple(n for i, n in enumerate(shape) if i != axis)
    return np.moveaxis(a.reshape(rest + (a.shape[-1],)), -1, axis)


def _take_lines(a, t, axis, shape):
    a, t = _lines(a, axis), _lines(t, axis)
    n = a.shape[-1]
    at, good = _reached(t, n)
    if n == 0:
        y = np.zeros(t.shape, a.dtype)
    else:
        y = np.where(good, np.take_along_axis(a, at, -1), np.zeros((), a.dtype))
    return _unlines(y, shape, axis)


def _add_lines(t, s, axis, shape):
    """Zeros with the elements of s added at t along the axis."""
    rest = [n for i, n in enumerate(shape) if i != axis]
    t, s = _lines(t, axis), _lines(s, axis)
    n = shape[axis]
    good = _valid(t, n)
    y = np.zeros((int(np.prod(rest)), n), s.dtype)
    rows = np.broadcast_to(np.arange(len(t))[:, None], t.shape)
    np.add.at(y, (rows[good], t[good]), s[good])
    return _unlines(y, shape, axis)


@register("take_along_axis")
def take_along_axis(c, x, t):
    axis = c.axis % x.ndim
    take = lambda a: _take_lines(np.asarray(a), t.a, axis, t.shape)
    return node(take(x.a), (x, lambda g: _add_lines(t.a, np.asarray(g), axis, x.shape), take))


@register("scatter_add_along_axis")
def scatter_add_along_axis(c, x, t, s):
    axis = c.axis % x.ndim
    added = lambda d: _add_lines(t.a, np.asarray(d), axis, x.shape)
    return node(x.a + added(s.a), (x, lambda g: g, lambda d: d),
                (s, lambda g: _take_lines(np.asarray(g), t.a, axis, t.shape), added))


@register("one_hot", result="dtype")
def one_hot(c, t):
    axis = c.axis % (t.ndim + 1)
    at = t.a
    hot = at[..., None] == np.arange(c.classes)
    return lift(np.moveaxis(hot, -1, axis))
