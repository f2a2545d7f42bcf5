"""Operations that move elements: views where strides can say it, kernels elsewhere."""
import math

import numpy as np

from . import views
from .registry import register, register_view
from .switch import on
from .tape import lift, node


def completed(shape, size):
    if -1 not in shape:
        return list(shape)
    rest = math.prod(n for n in shape if n != -1)
    return [size // rest if n == -1 else n for n in shape]


@register_view("reshape")
def reshape(c, v):
    return views.reshape(v, completed(c.shape, v.size))


@register_view("flatten")
def flatten(c, v):
    rank = max(1, v.ndim)
    start, end = c.start % rank, c.end % rank
    shape = v.shape[:start] + (math.prod(v.shape[start:end + 1]),) + v.shape[end + 1:]
    return views.reshape(v, shape)


@register_view("transpose")
def transpose(c, v):
    return views.permute(v, [a % max(1, v.ndim) for a in c.permutation])


@register_view("swap_axes")
def swap_axes(c, v):
    order = list(range(v.ndim))
    i, j = c.axis1 % v.ndim, c.axis2 % v.ndim
    order[i], order[j] = order[j], order[i]
    return views.permute(v, order)


register_view("broadcast_to")(lambda c, v: views.broadcast(v, c.shape))
register_view("select")(lambda c, v: views.select(v, c.axis % v.ndim, c.index))
register_view("flip")(lambda c, v: views.flip(v, [a % v.ndim for a in c.axes]))


def per_axis(value, rank):
    return list(value) if isinstance(value, list) else [value] * rank


@register_view("slice")
def slice_(c, v):
    return views.slice_(v, *(per_axis(c[k], v.ndim) for k in ("start", "stop", "step")))


@register_view("split")
def split(c, v):
    sizes, axis, before, pieces = c.sizes, c.axis % v.ndim, 0, []
    for n in sizes:
        pieces.append(views.narrow(v, axis, before, n))
        before += n
    return tuple(pieces)


@register_view("deinterleave")
def deinterleave(c, v):
    axis = c.axis % v.ndim
    half = [slice(0, n, 1) for n in v.shape]
    pieces = []
    for first in (0, 1):
        start, stop, step = [0] * v.ndim, [s.stop for s in half], [1] * v.ndim
        start[axis], step[axis] = first, 2
        if v.shape[axis] == 0:
            start[axis] = 0
        pieces.append(views.slice_(v, start, stop, step))
    return tuple(pieces)


def moved(x, f, back):
    return node(f(x.a), (x, lambda g: back(np.asarray(g)), f))


def concat_of(xs, axis):
    """Tensors one after the other; a cotangent is cut into theirs."""
    ends = np.cumsum([0] + [x.shape[axis] for x in xs])

    def place(d, t):
        parts = [np.zeros(x.shape, d.dtype) for x in xs]
        parts[t] = d
        return np.concatenate(parts, axis)

    def cut(g, t):
        low = ends[t]
        if on("concat_cuts_by_first_size"):
            low = min(t * xs[0].shape[axis], ends[-1] - xs[t].shape[axis])
        high = low + xs[t].shape[axis]
        return np.take(g, range(low, high), axis)
    return node(np.concatenate([x.a for x in xs], axis),
                *((x, lambda g, t=t: cut(g, t), lambda d, t=t: place(np.asarray(d), t)) for t, x in enumerate(xs)))


register("concat")(lambda c, *xs: concat_of(xs, c.axis % xs[0].ndim))


@register("stack")
def stack(c, *xs):
    axis = c.axis % (xs[0].ndim + 1)
    return concat_of([moved(x, lambda a: np.expand_dims(a, axis), lambda g: np.squeeze(g, axis)) for x in xs], axis)


@register("pad")
def pad(c, x):
    low, high = per_axis(c.low, x.ndim), per_axis(c.high, x.ndim)
    shape = [max(0, a + n + b) for a, n, b in zip(low, x.shape, high)]
    value = c.value
    if on("pad_crop_loses_value") and min(low + high, default=0) < 0:
        value = 0
    into, out = [], []
    for a, n, m in zip(low, x.shape, shape):
        first, last = max(a, 0), min(a + n, m)
        last = max(first, last)
        into.append(slice(first, last))
        out.append(slice(first - a, last - a))

    def place(a, fill=0):
        y = np.full(shape, fill, a.dtype)
        y[tuple(into)] = a[tuple(out)]
        return y

    def cut(g):
        y = np.zeros(x.shape, g.dtype)
        y[tuple(out)] = g[tuple(into)]
        return y
    return node(place(x.a, value), (x, lambda g: cut(np.asarray(g)), lambda d: place(np.asarray(d))))


@register("roll")
def roll(c, x):
    axes = [a % x.ndim for a in c.axes]
    shift = per_axis(c.shift, len(axes))

    def turn(sign):
        return lambda a: np.roll(a, [sign * s for s in shift], axes) if axes else a + 0
    return moved(x, turn(1), turn(-1))


def _triangle(c, x, keep):
    y = np.where(keep, x.a, np.zeros((), x.a.dtype))
    return node(y, (x, lambda g: np.where(keep, g, 0), lambda d: np.where(keep, d, 0)))


@register("tril")
def tril(c, x):
    m, n = x.shape[-2:]
    return _triangle(c, x, np.arange(n)[None, :] <= np.arange(m)[:, None] + c.diagonal)


@register("triu")
def triu(c, x):
    m, n = x.shape[-2:]
    return _triangle(c, x, np.arange(n)[None, :] >= np.arange(m)[:, None] + c.diagonal)


@register("interleave")
def interleave(c, a, b):
    axis = c.axis % a.ndim

    def woven(p, q):
        y = np.stack([p, q], axis + 1)
        return y.reshape(p.shape[:axis] + (2 * p.shape[axis],) + p.shape[axis + 1:])

    def part(g, first):
        g = np.moveaxis(np.asarray(g), axis, 0)
        return np.moveaxis(g[first::2], 0, axis)
    return node(woven(a.a, b.a), (a, lambda g: part(g, 0), lambda d: woven(d, np.zeros_like(d))),
                (b, lambda g: part(g, 1), lambda d: woven(np.zeros_like(d), d)))


register("arange", result="dtype")(lambda c: lift(_arange(c)))


def _arange(c):
    sign = 1 if c.step > 0 else -1
    n = max(0, ((c.stop - c.start) * sign + abs(c.step) - 1) // abs(c.step))
    return np.asarray(c.start + c.step * np.arange(n, dtype=np.int64))


def filled(c, value):
    if c.dtype in ("i32", "i64"):
        return lift(np.full(c.shape, int(value), np.int64))
    return lift(np.full(c.shape, value, np.bool_ if c.dtype == "bool" else np.float64))


register("full", result="dtype")(lambda c: filled(c, c.value))
register("zeros", result="dtype")(lambda c: filled(c, 0))
register("ones", result="dtype")(lambda c: filled(c, 1))
register("constant", result="dtype")(lambda c: filled(c, c.value if c.dtype in ("f32", "f64") else float(c.value)))
register("literal")(lambda c, x: moved(x, lambda a: np.reshape(a, c.shape), lambda g: np.reshape(g, x.shape)))
