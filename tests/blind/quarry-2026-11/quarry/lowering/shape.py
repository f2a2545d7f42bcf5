"""Operations that move elements."""
import numpy as np

from quarry import build as a
from quarry.build import cut, shaped, where
from quarry.ir import constant
from quarry.lowering.axes import axes_of, axis_of, count_of, per_axis, require
from quarry.movement import take_slice
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def moves(*names, **more):
    """Moving needs no arithmetic, so operands are not widened and stay views."""
    return operation(*names, raw=True, **more)


@moves(permutation="reversed")
def transpose(at, x):
    return a.permuted(x, axes_of(at.permutation, x.rank))


@moves(shape=OPTIONAL)
def reshape(at, x):
    shape = per_axis(at.shape, 1)
    if -1 in shape:
        rest = int(np.prod([n for n in shape if n != -1], dtype=np.int64))
        require(shape.count(-1) == 1 and rest and count_of(x) % rest == 0, "one extent that follows")
        shape = [count_of(x) // rest if n == -1 else n for n in shape]
    require(int(np.prod(shape, dtype=np.int64)) == count_of(x), "size(..r) == size(..o)")
    return shaped(x, shape)


@moves(start=0, end=-1)
def flatten(at, x):
    rank = max(1, x.rank)
    require(-rank <= at.start < rank and -rank <= at.end < rank, "axes in range")
    first, last = at.start % rank, at.end % rank
    require(first <= last, "start <= end")
    joined = int(np.prod(x.shape[first:last + 1], dtype=np.int64))
    return shaped(x, x.shape[:first] + (joined,) + x.shape[last + 1:])


@moves(axis1=OPTIONAL, axis2=OPTIONAL)
def swap_axes(at, x):
    order = list(range(x.rank))
    i, j = axis_of(at.axis1, x.rank), axis_of(at.axis2, x.rank)
    require(i != j, "two axes")
    order[i], order[j] = j, i
    return a.permuted(x, order)


@moves(shape=OPTIONAL)
def broadcast_to(at, x):
    require(a.join(x.shape, at.shape) == tuple(at.shape), "a shape that x joins")
    return a.broadcast(x, at.shape)


@moves(operands="packs", axis=0)
def concat(at, packs, *xs):
    return a.joined(xs, axis_of(at.axis, xs[0].rank))


def stacked(xs, axis):
    return a.joined([shaped(x, x.shape[:axis] + (1,) + x.shape[axis:]) for x in xs], axis)


@moves(operands="packs", axis=0)
def stack(at, packs, *xs):
    return stacked(xs, axis_of(at.axis, xs[0].rank + 1))


@moves(sizes=OPTIONAL, axis=0)
def split(at, x):
    axis, at_place, found = axis_of(at.axis, x.rank), 0, []
    sizes = per_axis(at.sizes, 1)
    require(sum(sizes) == x.shape[axis], "total(sizes#) == n")
    for n in sizes:
        found.append(cut(x, axis, at_place, at_place + n))
        at_place += n
    return found


@moves("slice", start=0, stop=OPTIONAL, step=1)
def slice_(at, x):
    start, stop, step = (per_axis(v, x.rank) for v in (at.start, at.stop, at.step))
    shape = []
    for n, i, j, k in zip(x.shape, start, stop, step):
        require(k != 0, "step != 0")
        m = max(0, ((j - i) * (1 if k > 0 else -1) + abs(k) - 1) // abs(k))
        require(m == 0 or (0 <= min(i, i + k * (m - 1)) and max(i, i + k * (m - 1)) < n), "places in range")
        shape.append(m)
    return take_slice(x, [i if m else 0 for i, m in zip(start, shape)], step, shape)


@moves(axis=0, index=OPTIONAL)
def select(at, x):
    axis = axis_of(at.axis, x.rank)
    n = x.shape[axis]
    require(-n <= at.index < n, "an index in range")
    index = at.index % n
    row = cut(x, axis, index, index + 1)
    return shaped(row, x.shape[:axis] + x.shape[axis + 1:])


@moves(low=0, high=0, value=0)
def pad(at, x):
    low, high = per_axis(at.low, x.rank), per_axis(at.high, x.rank)
    return a.padded(x, low, high, at.static("value"))


@moves(axes="all")
def flip(at, x):
    axes = axes_of(at.axes, x.rank)
    return a.flipped(x, axes)


@moves(shift=OPTIONAL, axes=OPTIONAL)
def roll(at, x):
    axes = axes_of(at.axes, x.rank)
    for axis, shift in zip(axes, per_axis(at.shift, len(axes))):
        n = x.shape[axis]
        if defect("roll_backwards_goes_forwards"):
            shift = abs(shift)
        if n and shift % n:
            x = a.joined([cut(x, axis, n - shift % n, n), cut(x, axis, 0, n - shift % n)], axis)
    return x


def triangle(x, keep):
    """The elements of matrices that `keep` admits by row and column, 0 elsewhere."""
    rows, columns = np.ogrid[:x.shape[-2], :x.shape[-1]]
    mask = np.broadcast_to(keep(rows, columns), x.shape[-2:])
    return where(constant(mask), x, 0)


@moves(diagonal=0)
def tril(at, x):
    return triangle(x, lambda i, j: j <= i + at.diagonal)


@moves(diagonal=0)
def triu(at, x):
    return triangle(x, lambda i, j: j >= i + at.diagonal)


@moves(axis=-1)
def interleave(at, x, y):
    axis = axis_of(at.axis, x.rank)
    pairs = stacked([x, y], axis + 1)
    return shaped(pairs, x.shape[:axis] + (2 * x.shape[axis],) + x.shape[axis + 1:])


@moves(axis=-1)
def deinterleave(at, x):
    axis = axis_of(at.axis, x.rank)
    n = x.shape[axis]
    require(n % 2 == 0, "n % 2 == 0")
    if n == 0:
        return [x, x]
    return [cut(x, axis, 0, n, 2), cut(x, axis, 1, n + 1, 2)]
