"""Reads and sums at computed places. An index out of range, negative ones included, reads 0 and adds nothing."""
import numpy as np

from .rule import Op, axis_of
from .switch import planted


def zero(x):
    return np.zeros((), x.dtype)


def taken(x, t):
    """Slices of the first axis; 0 out of range."""
    n = x.shape[0]
    ok = (t >= 0) & (t < n)
    if n == 0:
        return np.zeros(t.shape + x.shape[1:], x.dtype)
    y = x[np.where(ok, t, 0)]
    return np.where(ok.reshape(ok.shape + (1,) * (x.ndim - 1)), y, zero(x))


def added(full, t, s):
    """Adds slices s at the places t of the first axis."""
    t, s = t.reshape(-1), s.reshape((t.size,) + full.shape[1:])
    ok = (t >= 0) & (t < full.shape[0])
    if planted("scatter_add_last_write_wins"):
        full[t[ok]] = full[t[ok]] + s[ok]
    else:
        np.add.at(full, t[ok], s[ok])
    return full


def placed(y, axis, rank):
    """Moves the axes of the indices, which stand first, to where the gathered axis was."""
    return np.moveaxis(y, tuple(range(rank)), tuple(range(axis, axis + rank)))


def lifted(s, axis, rank):
    return np.moveaxis(s, tuple(range(axis, axis + rank)), tuple(range(rank)))


def gather_of(c, x):
    axis, t = axis_of(c, x.ndim), c.x[1]
    return placed(taken(np.moveaxis(x, axis, 0), t), axis, t.ndim)


def gather_vjp(c, gs):
    x, t = c.x
    axis = axis_of(c, x.ndim)
    full = np.zeros(np.moveaxis(x, axis, 0).shape, gs[0].dtype)
    g = lifted(gs[0], axis, t.ndim)
    return [np.moveaxis(added(full, t, g), 0, axis), None]


Op("gather", "call", lambda c: [gather_of(c, c.x[0])], lambda c, ts: [gather_of(c, ts[0])], gather_vjp)


def along(x, t, axis):
    n = x.shape[axis]
    ok = (t >= 0) & (t < n)
    if n == 0:
        return np.zeros(t.shape, x.dtype)
    return np.where(ok, np.take_along_axis(x, np.where(ok, t, 0), axis), zero(x))


def add_along(full, t, s, axis):
    n = full.shape[axis]
    ok = (t >= 0) & (t < n)
    place = list(np.indices(t.shape))
    place[axis] = t
    np.add.at(full, tuple(p[ok] for p in place), s[ok])
    return full


def along_axis(c):
    return axis_of(c, c.x[0].ndim)


def take_vjp(c, gs):
    return [add_along(np.zeros(c.x[0].shape, gs[0].dtype), c.x[1], gs[0], along_axis(c)), None]


Op("take_along_axis", "call", lambda c: [along(c.x[0], c.x[1], along_axis(c))],
   lambda c, ts: [along(ts[0], c.x[1], along_axis(c))], take_vjp)


def scatter_into(c, x, s):
    axis, t = axis_of(c, x.ndim), c.x[1]
    full = np.moveaxis(x, axis, 0).copy()
    added(full, t, np.ascontiguousarray(lifted(s, axis, t.ndim)))
    return np.moveaxis(full, 0, axis)


def tangents(c, ts):
    """Of the tensor and of what is added, zero where there is none."""
    return [np.zeros(c.x[k].shape, c.wide) if ts[k] is None else ts[k] for k in (0, 2)]


def scatter_vjp(c, gs):
    axis, t = axis_of(c, c.x[0].ndim), c.x[1]
    return [gs[0], None, placed(taken(np.moveaxis(gs[0], axis, 0), t), axis, t.ndim)]


Op("scatter_add", "call", lambda c: [scatter_into(c, c.x[0], c.x[2])],
   lambda c, ts: [scatter_into(c, *tangents(c, ts))], scatter_vjp)
Op("scatter_add_along_axis", "call", lambda c: [add_along(c.x[0].copy(), c.x[1], c.x[2], along_axis(c))],
   lambda c, ts: [add_along(np.array(tangents(c, ts)[0]), c.x[1], tangents(c, ts)[1], along_axis(c))],
   lambda c, gs: [gs[0], None, along(gs[0], c.x[1], along_axis(c))])


def one_hot_forward(c):
    t = c.x[0]
    axis = c.a["axis"] % (t.ndim + 1)
    n = c.a["classes"]
    hot = t[..., None] == np.arange(n)
    kind = np.bool_ if c.a["dtype"] == "bool" else np.float64 if c.a["dtype"] in ("f32", "f64") else np.int64
    return [np.moveaxis(hot, -1, axis).astype(kind)]


def none_jvp(c, ts):
    return [None] * len(c.y)


def none_vjp(c, gs):
    return [None] * len(c.x)


Op("one_hot", "call", one_hot_forward, none_jvp, none_vjp, lambda c: c.a["dtype"])


def padding(c):
    """Where the row is the one without a derivative."""
    row = c.a["padding_idx"]
    if planted("embedding_padding_zero_is_none") and row == 0:
        return np.zeros(c.x[1].shape, bool)
    return c.x[1] == row


def embedding_jvp(c, ts):
    return [np.where(padding(c)[..., None], 0, taken(ts[0], c.x[1]))]


def embedding_vjp(c, gs):
    t = np.where(padding(c), -1, c.x[1])
    g = gs[0]
    return [added(np.zeros(c.x[0].shape, g.dtype), t, g), None]


Op("embedding", "call", lambda c: [taken(*c.x)], embedding_jvp, embedding_vjp)


def arange_forward(c):
    a, b, s = c.a["start"], c.a["stop"], c.a["step"]
    n = max(0, ((b - a) * (1 if s > 0 else -1) + abs(s) - 1) // abs(s))
    y = a + s * np.arange(n, dtype=np.int64)
    return [y.astype(np.float64) if c.a["dtype"] in ("f32", "f64") else y]


def filled(c, value):
    shape = c.a["shape"] if isinstance(c.a["shape"], list) else [c.a["shape"]]
    kind = {"bool": np.bool_, "i32": np.int64, "i64": np.int64}.get(c.a["dtype"], np.float64)
    return np.full(shape, value, kind)


Op("arange", "call", arange_forward, none_jvp, none_vjp, lambda c: c.a["dtype"])
Op("full", "call", lambda c: [filled(c, c.a["value"])], none_jvp, none_vjp, lambda c: c.a["dtype"])
Op("zeros", "call", lambda c: [filled(c, 0)], none_jvp, none_vjp, lambda c: c.a["dtype"])
Op("ones", "call", lambda c: [filled(c, 1)], none_jvp, none_vjp, lambda c: c.a["dtype"])
Op("constant", "call", lambda c: [filled(c, c.a["value"])], none_jvp, none_vjp, lambda c: c.a["dtype"])
