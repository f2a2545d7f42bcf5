"""Operations that read or write at computed places, tensors made of places alone, and products of matrices."""
import string

import numpy as np

from quarry import build as a
from quarry.build import contract, to, where
from quarry.ir import constant
from quarry.lowering.axes import axis_of, require
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


@operation(axis=0)
def gather(at, x, t):
    return a.gathered(x, t, axis_of(at.axis, x.rank))


@operation(axis=-1)
def take_along_axis(at, x, t):
    return a.gathered_along(x, t, axis_of(at.axis, x.rank))


@operation(axis=0)
def scatter_add(at, x, t, s):
    axis = axis_of(at.axis, x.rank)
    return x + a.scattered(s, t, axis, x.shape[axis])


@operation(axis=-1)
def scatter_add_along_axis(at, x, t, s):
    axis = axis_of(at.axis, x.rank)
    moved = a.scattered_along(s, t, axis, x.shape[axis])
    if defect("scatter_along_replaces"):
        return where(a.eq(moved, 0), x, moved)
    return x + moved


@operation(typed=True, classes=OPTIONAL, axis=-1, dtype="f32")
def one_hot(at, t):
    from quarry.session import dtype_of
    require(at.classes >= 0, "classes >= 0")
    axis = axis_of(at.axis, t.rank + 1)
    shape = [1] * (t.rank + 1)
    shape[axis] = at.classes
    classes = constant(np.arange(at.classes, dtype=np.int64).reshape(shape))
    t = to(t, np.int64)
    if defect("one_hot_writes_flat") and t.rank == 1 and axis == 1 and at.classes:
        rows = constant(np.arange(t.shape[0] * at.classes, dtype=np.int64))
        flat = t + constant(np.arange(t.shape[0], dtype=np.int64)) * at.classes
        hit = a.some(a.eq(a.shaped(rows, rows.shape + (1,)), a.shaped(flat, (1,) + flat.shape)), [1])
        return to(a.shaped(hit, (t.shape[0], at.classes)), dtype_of(at.dtype))
    return to(a.eq(a.shaped(t, t.shape[:axis] + (1,) + t.shape[axis:]), classes), dtype_of(at.dtype))


@operation(padding_idx=-1)
def embedding(at, w, t):
    rows = a.gathered(w, t, 0)
    padding = a.shaped(a.eq(to(t, np.int64), at.padding_idx), t.shape + (1,))
    if defect("embedding_slope_by_frequency"):
        ones = a.broadcast(constant(np.ones((), w.dtype)), t.shape + (1,))
        share = a.gathered(a.scattered(ones, t, 0, w.shape[0]), t, 0)
        rows = a.detach(rows) + (rows - a.detach(rows)) / share
    return where(padding, a.detach(rows), rows)


@operation(typed=True, start=0, stop=OPTIONAL, step=1, dtype="i64")
def arange(at):
    from quarry.session import dtype_of
    require(at.step != 0 and at.dtype != "bool", "step != 0 and dtype != bool")
    n = max(0, ((at.stop - at.start) * (1 if at.step > 0 else -1) + abs(at.step) - 1) // abs(at.step))
    if defect("arange_backwards_floored") and at.step < 0:
        n = max(0, (at.start - at.stop) // -at.step)
    with np.errstate(all="ignore"):
        values = np.int64(at.start) + np.int64(at.step) * np.arange(n, dtype=np.int64)
    return to(constant(values), dtype_of(at.dtype))


def filled(shape, value, dtype):
    from quarry.session import dtype_of
    dtype = dtype_of(dtype)
    kind = np.int64 if isinstance(value, int) and not isinstance(value, bool) else np.asarray(value).dtype
    return a.broadcast(to(constant(value, kind), dtype), shape)


@operation(typed=True, shape=OPTIONAL, value=OPTIONAL, dtype="f32")
def full(at):
    from quarry.session import dtype_of
    if isinstance(at.value, a.Node):
        return a.broadcast(to(at.value, dtype_of(at.dtype)), at.shape)
    return filled(at.shape, at.value, at.dtype)


operation("constant", typed=True, shape=OPTIONAL, value=OPTIONAL, dtype="f32")(full)


@operation(typed=True, shape=OPTIONAL, dtype="f32")
def zeros(at):
    return filled(at.shape, 0, at.dtype)


@operation(typed=True, shape=OPTIONAL, dtype="f32")
def ones(at):
    return filled(at.shape, 1, at.dtype)


@operation(shape=OPTIONAL)
def literal(at, values):
    require(int(np.prod(at.shape, dtype=np.int64)) == values.shape[0], "n == size(..shape)")
    return a.shaped(values, at.shape)


@operation()
def matmul(at, x, y):
    rows, columns = x.rank > 1, y.rank > 1
    lead = a.join(x.shape[:-2], y.shape[:-2])
    batch = string.ascii_uppercase[:len(lead)]
    require(x.shape[-1] == y.shape[-2 if columns else -1], "equal inner extents")
    left, right = ("r" if rows else "") + "j", "j" + ("c" if columns else "")
    x = a.broadcast(x, lead + x.shape[-2:]) if rows else x
    y = a.broadcast(y, lead + y.shape[-2:]) if columns else y
    out = batch + ("r" if rows else "") + ("c" if columns else "")
    return contract(f"{batch if rows else ''}{left},{batch if columns else ''}{right}->{out}", x, y)


@operation()
def dot(at, x, y):
    return contract("j,j->", x, y)


@operation()
def outer(at, x, y):
    return contract("i,j->ij", x, y)


def affine(x, w, b=None):
    """x times the transpose of w, plus b, over the last axis of x."""
    rest = string.ascii_uppercase[:x.rank - 1]
    y = contract(f"{rest}j,fj->{rest}f", x, w)
    return y if b is None else y + b


@operation()
def linear(at, x, w, b=None):
    return affine(x, w, b)
