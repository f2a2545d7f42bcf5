"""Operations that move elements. Those that can are views of their operand's buffer."""
import math

import numpy as np

from .rule import Op, axes_of, axis_of, per_axis
from .switch import planted
from .views import Buffer, View


def as_view(array):
    array = np.asarray(array)
    return View.dense(Buffer(np.ascontiguousarray(array).reshape(-1), True), array.shape)


def copied(view):
    return as_view(view.array().copy())


def moving(name, move, back, saves=""):
    """move(c, view) gives the results' views, back(c, gs) the cotangent of the operand."""
    def forward(c):
        return move(c, c.views[0])

    def jvp(c, ts):
        return [v.array() for v in move(c, as_view(ts[0]))]

    def vjp(c, gs):
        return [back(c, gs, c.x[0].shape)]
    return Op(name, "view", forward, jvp, vjp, saves=saves)


def completed(c, size):
    shape = list(c.a["shape"]) if isinstance(c.a["shape"], list) else [c.a["shape"]]
    if -1 in shape:
        k = shape.index(-1)
        shape[k] = size // math.prod(shape[:k] + shape[k + 1:])
    return tuple(shape)


def reshape_to(view, shape):
    found = view.reshaped(shape)
    return found if found is not None else as_view(view.array().reshape(shape))


def flat_shape(c, shape):
    rank = max(1, len(shape))
    start, end = c.a["start"] % rank, c.a["end"] % rank
    return shape[:start] + (math.prod(shape[start:end + 1]),) + shape[end + 1:]


moving("reshape", lambda c, v: [reshape_to(v, completed(c, v.size))], lambda c, gs, shape: gs[0].reshape(shape))
moving("flatten", lambda c, v: [reshape_to(v, flat_shape(c, v.shape))], lambda c, gs, shape: gs[0].reshape(shape))


def transpose_back(c, gs, shape):
    p = [k % len(shape) for k in c.a["permutation"]]
    if planted("transpose_vjp_same_permutation"):
        return np.transpose(gs[0], p).reshape(shape)
    return np.transpose(gs[0], np.argsort(p).astype(int))


moving("transpose", lambda c, v: [v.transposed(c.a["permutation"])], transpose_back)


def swap(c, rank):
    order = list(range(rank))
    a, b = c.a["axis1"] % rank, c.a["axis2"] % rank
    order[a], order[b] = order[b], order[a]
    return order


moving("swap_axes", lambda c, v: [v.transposed(swap(c, len(v.shape)))],
       lambda c, gs, shape: np.transpose(gs[0], swap(c, len(shape))))


def broadcast_back(c, gs, shape):
    g = gs[0]
    lead = g.ndim - len(shape)
    g = g.sum(axis=tuple(range(lead))) if lead else g
    ones = tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1)
    return g.sum(axis=ones, keepdims=True) if ones else g


def target(c):
    return tuple(c.a["shape"]) if isinstance(c.a["shape"], list) else (c.a["shape"],)


moving("broadcast_to", lambda c, v: [v.broadcast(target(c))], broadcast_back)


def slice_of(c, rank):
    return [per_axis(c.a[k], rank) for k in ("start", "stop", "step")]


def slice_move(c, v):
    start, stop, step = slice_of(c, len(v.shape))
    count = []
    for a, b, t in zip(start, stop, step):
        s = 1 if t > 0 else -1
        count.append(max(0, ((b - a) * s + abs(t) - 1) // abs(t)))
    if 0 in count:
        return [as_view(np.empty(count, v.buffer.data.dtype))]
    return [v.sliced(start, step, count)]


def slice_back(c, gs, shape):
    g = gs[0]
    full = np.zeros(shape, g.dtype)
    if g.size == 0:
        return full
    start, _, step = slice_of(c, len(shape))
    full[np.ix_(*[a + t * np.arange(n) for a, t, n in zip(start, step, g.shape)])] = g
    return full


moving("slice", slice_move, slice_back)


def select_back(c, gs, shape):
    axis = axis_of(c, len(shape))
    full = np.zeros(shape, gs[0].dtype)
    index = c.a["index"]
    np.moveaxis(full, axis, 0)[index] = gs[0]
    return full


def select_move(c, v):
    axis = axis_of(c, len(v.shape))
    return [v.dropped(axis, c.a["index"] % v.shape[axis])]


moving("select", select_move, select_back)
moving("flip", lambda c, v: [v.flipped(axes_of(c, len(v.shape))) if v.size else v],
       lambda c, gs, shape: np.flip(gs[0], axes_of(c, len(shape))))


def split_move(c, v):
    axis = axis_of(c, len(v.shape))
    out, at = [], 0
    for n in c.a["sizes"]:
        start, count = [0] * len(v.shape), list(v.shape)
        start[axis], count[axis] = at, n
        out.append(v.sliced(start, [1] * len(start), count) if math.prod(count) else
                   as_view(np.empty(count, v.buffer.data.dtype)))
        at += n
    return out


def split_back(c, gs, shape):
    axis, at = axis_of(c, len(shape)), 0
    kind = next(g.dtype for g in gs if g is not None)
    full = np.zeros(shape, kind)
    moved = np.moveaxis(full, axis, 0)
    for n, g in zip(c.a["sizes"], gs):
        if g is not None:
            moved[at:at + n] = np.moveaxis(g, axis, 0)
        elif planted("split_vjp_skips_unused"):
            continue
        at += n
    return full


moving("split", split_move, split_back)


def deinterleave_move(c, v):
    axis = axis_of(c, len(v.shape))
    out = []
    for k in (0, 1):
        start, step, count = [0] * len(v.shape), [1] * len(v.shape), list(v.shape)
        start[axis], step[axis], count[axis] = k, 2, v.shape[axis] // 2
        out.append(v.sliced(start, step, count) if math.prod(count) else as_view(np.empty(count, v.buffer.data.dtype)))
    return out


def deinterleave_back(c, gs, shape):
    axis = axis_of(c, len(shape))
    full = np.zeros(shape, next(g.dtype for g in gs if g is not None))
    moved = np.moveaxis(full, axis, 0)
    for k, g in enumerate(gs):
        if g is not None:
            moved[k::2] = np.moveaxis(g, axis, 0)
    return full


moving("deinterleave", deinterleave_move, deinterleave_back)


# Those that copy.
def copying(name, forward, jvp, vjp, saves=""):
    return Op(name, "call", forward, jvp, vjp, saves=saves)


def zeros_for(c, ts):
    """Tangents, zero where there is none."""
    return [np.zeros(x.shape, c.wide) if t is None else t for x, t in zip(c.x, ts)]


def concat_axis(c):
    return axis_of(c, c.x[0].ndim)


def concat_vjp(c, gs):
    axis, at, out = concat_axis(c), 0, []
    for x in c.x:
        n = x.shape[axis]
        take = [slice(None)] * x.ndim
        take[axis] = slice(at, at + n)
        piece = gs[0][tuple(take)]
        out.append(piece if piece.shape == x.shape else np.resize(piece, x.shape))
        at += n
    return out


copying("concat", lambda c: [np.concatenate(c.x, concat_axis(c))],
        lambda c, ts: [np.concatenate(zeros_for(c, ts), concat_axis(c))], concat_vjp)


def stack_axis(c):
    return c.a["axis"] % (c.x[0].ndim + 1)


def stack_forward(c):
    axis = stack_axis(c)
    y = np.stack(c.x, axis)
    want = list(c.x[0].shape)
    want.insert(stack_axis(c), len(c.x))
    return [y.reshape(want)]


copying("stack", stack_forward, lambda c, ts: [np.stack(zeros_for(c, ts), stack_axis(c))],
        lambda c, gs: [np.take(gs[0], k, stack_axis(c)) for k in range(len(c.x))])


def pad_with(c, x, value):
    low, high = (per_axis(c.a[k], x.ndim) for k in ("low", "high"))
    full_low, full_high = (per_axis(c.a[k], x.ndim) for k in ("low", "high"))
    out = np.full([n + a + b for n, a, b in zip(x.shape, full_low, full_high)], value, x.dtype)
    into = tuple(slice(max(0, a), max(0, a) + max(0, n + min(0, a) + min(0, b)))
                 for n, a, b in zip(x.shape, low, high))
    take = tuple(slice(max(0, -a), max(0, -a) + max(0, n + min(0, a) + min(0, b)))
                 for n, a, b in zip(x.shape, low, high))
    out[into] = x[take][tuple(slice(0, s) for s in out[into].shape)]
    return out


def pad_back(c, gs):
    x, g = c.x[0], gs[0]
    low, high = (per_axis(c.a[k], x.ndim) for k in ("low", "high"))
    into = tuple(slice(max(0, a), max(0, a) + max(0, n + min(0, a) + min(0, b)))
                 for n, a, b in zip(x.shape, low, high))
    take = tuple(slice(max(0, -a), max(0, -a) + max(0, n + min(0, a) + min(0, b)))
                 for n, a, b in zip(x.shape, low, high))
    full = np.zeros(x.shape, g.dtype)
    full[take] = g[into]
    return [full]


def pad_jvp(c, ts):
    return [pad_with(c, ts[0], c.a["value"] if planted("pad_tangent_has_value") else 0)]


copying("pad", lambda c: [pad_with(c, c.x[0], c.a["value"])], pad_jvp, pad_back)


def roll_of(c, x, sign):
    axes = axes_of(c, x.ndim)
    shift = per_axis(c.a["shift"], len(axes))
    if planted("roll_vjp_same_shift") and sign < 0:
        sign = 1
    return np.roll(x, [sign * s for s in shift], axes) if axes else x


copying("roll", lambda c: [roll_of(c, c.x[0], 1)], lambda c, ts: [roll_of(c, ts[0], 1)],
        lambda c, gs: [roll_of(c, gs[0], -1)])


def triangle(lower):
    def of(c, x):
        m, n = x.shape[-2:]
        i, j = np.arange(m)[:, None], np.arange(n)
        k = c.a["diagonal"]
        keep = j <= i + k if lower else j >= i + k
        return np.where(keep, x, np.zeros((), x.dtype))
    return of


for _name, _of in (("tril", triangle(True)), ("triu", triangle(False))):
    copying(_name, lambda c, of=_of: [of(c, c.x[0])], lambda c, ts, of=_of: [of(c, ts[0])],
            lambda c, gs, of=_of: [of(c, gs[0])])


def interleave_of(c, a, b):
    axis = axis_of(c, a.ndim)
    y = np.stack([a, b], axis + 1)
    return y.reshape(a.shape[:axis] + (2 * a.shape[axis],) + a.shape[axis + 1:])


def interleave_back(c, gs):
    axis = axis_of(c, c.x[0].ndim)
    g = np.moveaxis(gs[0], axis, 0)
    return [np.moveaxis(g[k::2], 0, axis) for k in (0, 1)]


copying("interleave", lambda c: [interleave_of(c, *c.x)], lambda c, ts: [interleave_of(c, *zeros_for(c, ts))],
        interleave_back)
