"""Primitives that move elements: lazy views, joining, windows, and reads and writes at computed places."""
import itertools

import numpy as np

from quarry.ir import Primitive, wide
from quarry.scalar import emit, like, linear, maximum, minimum
from quarry.switch import defect


def moving(name, impl, shape, lazy=True):
    p = Primitive(name)
    p.impl, p.moves, p.jvp = impl, lazy, linear
    p.shape = lambda x, *rest, **params: (shape(x.shape, **params), x.dtype)
    return p


reshape = moving("reshape", lambda x, shape: x.reshape(shape), lambda s, shape: shape)
permute = moving("permute", lambda x, order: x.permute(order), lambda s, order: tuple(s[i] for i in order))
expand = moving("expand", lambda x, shape: x.expand(shape), lambda s, shape: shape)
# slice: element start + step*i for i below the extent in `shape`; steps may be negative.
slice_ = moving("slice", lambda x, start, step, shape: x.slice(start, step, shape), lambda s, start, step, shape: shape)
windows = moving("windows",
                 lambda x, lead, kernel, stride, dilation, out: x.windows(lead, kernel, stride, dilation, out),
                 lambda s, lead, kernel, stride, dilation, out: s[:lead] + tuple(out) + tuple(kernel))


def pad_values(x, low, high, value):
    shape = tuple(a + n + b for a, n, b in zip(low, x.shape, high))
    found = np.full(shape, value, x.dtype)
    into = tuple(slice(max(0, a), max(0, min(m, a + n))) for a, n, m in zip(low, x.shape, shape))
    of = tuple(slice(max(0, -a), max(0, -a) + i.stop - i.start) if i.stop > i.start else slice(0, 0)
               for a, i in zip(low, into))
    if all(i.stop > i.start for i in into):
        found[into] = x[of]
    return found


pad = moving("pad", pad_values, lambda s, low, high, value: tuple(a + n + b for a, n, b in zip(low, s, high)), False)


def spread_values(x, start, step, shape):
    found = np.zeros(shape, x.dtype)
    if x.size:
        found[np.ix_(*[a + k * np.arange(n) for a, k, n in zip(start, step, x.shape)])] = x
    return found


# The transpose of slice: elements at start + step*i of zeros.
spread = moving("spread", spread_values, lambda s, start, step, shape: shape, False)


def fold_values(x, lead, kernel, stride, dilation, shape):
    found = np.zeros(shape, wide(x.dtype))
    out = x.shape[lead:lead + len(kernel)]
    for place in itertools.product(*[range(k) for k in kernel]):
        if 0 in out:
            break
        at = [slice(u * d, u * d + (n - 1) * s + 1, s) for u, d, n, s in zip(place, dilation, out, stride)]
        found[(slice(None),) * lead + tuple(at)] += x[(Ellipsis, *place)]
    return found


# The transpose of windows: every place of every window adds to the element that it was read from.
fold = moving("fold", fold_values, lambda s, lead, kernel, stride, dilation, shape: shape, False)

concat = Primitive("concat")
concat.impl = lambda *xs, axis: np.concatenate(xs, axis)
concat.shape = lambda *xs, axis: (xs[0].shape[:axis] + (sum(x.shape[axis] for x in xs),) + xs[0].shape[axis + 1:],
                                  xs[0].dtype)


def jvp_concat(node, t):
    if all(s is None for s in t):
        return None
    return emit(concat, *[like(a, 0) if s is None else s for a, s in zip(node.args, t)], **node.params)


def take_slice(x, start, step, shape):
    return emit(slice_, x, start=tuple(start), step=tuple(step), shape=tuple(shape))


def transpose_concat(node, ct, on):
    axis, at, parts = node.params["axis"], 0, []
    for a, is_linear in zip(node.args, on):
        start = [0] * ct.rank
        start[axis] = at
        parts.append(take_slice(ct, start, [1] * ct.rank, a.shape) if is_linear else None)
        at += a.shape[axis]
    return tuple(parts)


def transpose_expand(node, ct, _):
    from quarry.contraction import reduce_sum
    source = node.args[0].shape
    axes = tuple(i for i, (n, m) in enumerate(zip(source, ct.shape)) if n != m)
    summed = emit(reduce_sum, ct, axes=axes)
    return (emit(reshape, summed, shape=source),)


def inverse(order):
    return tuple(order.index(i) for i in range(len(order)))


def jvp_pad(node, t):
    return None if t[0] is None else emit(pad, t[0], low=node.params["low"], high=node.params["high"], value=0)


def transpose_pad(node, ct, _):
    low, high = node.params["low"], node.params["high"]
    return (emit(pad, ct, low=tuple(-a for a in low), high=tuple(-a for a in high), value=0),)


def window_params(node, **more):
    return {k: node.params[k] for k in ("lead", "kernel", "stride", "dilation")} | more


reshape.transpose = lambda node, ct, _: (emit(reshape, ct, shape=node.args[0].shape),)
permute.transpose = lambda node, ct, _: (emit(permute, ct, order=inverse(node.params["order"])),)
expand.transpose = transpose_expand


def transpose_slice(node, ct, _):
    start, step = node.params["start"], node.params["step"]
    return (emit(spread, ct, start=start, step=step, shape=node.args[0].shape),)


slice_.transpose = transpose_slice
spread.transpose = lambda node, ct, _: (take_slice(ct, node.params["start"], node.params["step"], node.args[0].shape),)
pad.jvp, pad.transpose = jvp_pad, transpose_pad
windows.transpose = lambda node, ct, _: (emit(fold, ct, **window_params(node, shape=node.args[0].shape)),)
fold.transpose = lambda node, ct, _: (emit(windows, ct, **window_params(
    node, out=node.args[0].shape[node.params["lead"]:node.params["lead"] + len(node.params["kernel"])])),)
concat.jvp, concat.transpose = jvp_concat, transpose_concat


# Reads and writes at computed places. An index out of range reads 0, and what is written there is dropped.

def take_values(x, t, axis):
    n = x.shape[axis]
    inside = (t >= 0) & (t < n)
    if n == 0:
        return np.zeros(x.shape[:axis] + t.shape + x.shape[axis + 1:], x.dtype)
    found = np.take(x, np.where(inside, t, 0), axis)
    return np.where(inside.reshape(inside.shape + (1,) * (x.ndim - axis - 1)), found, np.zeros((), x.dtype))


def put_values(s, t, axis, extent):
    """Zeros with the slices s added at the indices t, which take the place of one axis."""
    found = np.zeros((extent,) + s.shape[:axis] + s.shape[axis + t.ndim:], wide(s.dtype))
    source = np.moveaxis(s, list(range(axis, axis + t.ndim)), list(range(t.ndim))).reshape((t.size,) + found.shape[1:])
    for k, row in zip(t.reshape(-1).tolist(), source):
        if (-extent if defect("scatter_negative_from_end") else 0) <= k < extent:
            found[k] = found[k] + row
    return np.moveaxis(found, 0, axis)


def take_along_values(x, t, axis):
    n = x.shape[axis]
    if n == 0:
        return np.zeros(t.shape, x.dtype)
    inside = (t >= 0) & (t < n)
    return np.where(inside, np.take_along_axis(x, np.where(inside, t, 0), axis), np.zeros((), x.dtype))


def put_along_values(s, t, axis, extent):
    found = np.zeros((extent,) + s.shape[:axis] + s.shape[axis + 1:], wide(s.dtype))
    source, places = np.moveaxis(s, axis, 0), np.moveaxis(t, axis, 0)
    for k, row in zip(places, source):
        for p in range(extent):
            found[p] += np.where(k == p, row, np.zeros((), s.dtype))
    return np.moveaxis(found, 0, axis)


def at_places(name, impl, shape):
    p = Primitive(name)
    p.impl, p.shape = impl, shape
    p.jvp = lambda node, t: None if t[0] is None else emit(p, t[0], node.args[1], **node.params)
    return p


take = at_places("take", take_values,
                 lambda x, t, axis: (x.shape[:axis] + t.shape + x.shape[axis + 1:], x.dtype))
put = at_places("put", put_values,
                lambda s, t, axis, extent: (s.shape[:axis] + (extent,) + s.shape[axis + t.rank:], s.dtype))
take_along = at_places("take_along", take_along_values, lambda x, t, axis: (t.shape, x.dtype))
put_along = at_places("put_along", put_along_values,
                      lambda s, t, axis, extent: (s.shape[:axis] + (extent,) + s.shape[axis + 1:], s.dtype))
take.transpose = lambda node, ct, _: (emit(put, ct, node.args[1], axis=node.params["axis"],
                                           extent=node.args[0].shape[node.params["axis"]]), None)
def transpose_put(node, ct, _):
    places = node.args[1]
    if defect("put_transpose_clips"):
        ends = like(places, 0), like(places, max(0, node.params["extent"] - 1))
        places = emit(minimum, emit(maximum, places, ends[0]), ends[1])
    return emit(take, ct, places, axis=node.params["axis"]), None


put.transpose = transpose_put
take_along.transpose = lambda node, ct, _: (emit(put_along, ct, node.args[1], axis=node.params["axis"],
                                                 extent=node.args[0].shape[node.params["axis"]]), None)
put_along.transpose = lambda node, ct, _: (emit(take_along, ct, node.args[1], axis=node.params["axis"]), None)
