"""What lowerings are written in: arithmetic with broadcasting and weak scalars, on nodes of the graph."""
import numpy as np

from quarry import scalar as s
from quarry.contraction import (argmax, argmin, cumulate, einsum, reduce_all, reduce_any, reduce_max, reduce_prod,
                                reduce_sum, scan)
from quarry.ir import Node, constant
from quarry.movement import (concat, expand, fold, pad, permute, put, put_along, reshape, take, take_along, take_slice,
                             windows)
from quarry.words import Rejected
from quarry.scalar import emit

PI = np.longdouble("3.14159265358979323846264338327950288")


def lift(x, dtype):
    """A weak scalar of Python becomes a constant of the other operand's type."""
    return x if isinstance(x, Node) else constant(x, dtype)


def join(*shapes):
    rank = max(len(shape) for shape in shapes)
    found = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n != 1 and found[i] not in (1, n):
                raise Rejected(f"shapes {shapes} do not join")
            found[i] = n if n != 1 else found[i]
    return tuple(found)


def broadcast(x, shape):
    shape = tuple(shape)
    if x.shape == shape:
        return x
    full = (1,) * (len(shape) - x.rank) + x.shape
    return emit(expand, emit(reshape, x, shape=full), shape=shape)


def together(*xs):
    """Operands of one type and one shape."""
    nodes = [x for x in xs if isinstance(x, Node)]
    xs = [lift(x, nodes[0].dtype) for x in xs]
    shape = join(*[x.shape for x in xs])
    return [broadcast(x, shape) for x in xs]


def binary(prim):
    return lambda a, b: emit(prim, *together(a, b))


def unary(prim):
    return lambda x: emit(prim, x)


add, sub, mul, div, power, atan2 = map(binary, (s.add, s.sub, s.mul, s.div, s.pow_, s.atan2))
maximum, minimum, floor_divide, remainder = map(binary, (s.maximum, s.minimum, s.floor_div, s.rem))
eq, ne, lt, le, gt, ge = map(binary, (s.eq, s.ne, s.lt, s.le, s.gt, s.ge))
both, either, differ = map(binary, (s.and_, s.or_, s.xor))
exp, exp2, expm1, log, log2, log1p, sqrt = map(unary, (s.exp, s.exp2, s.expm1, s.log, s.log2, s.log1p, s.sqrt))
sin, cos, tan, sinh, cosh, tanh, erf = map(unary, (s.sin, s.cos, s.tan, s.sinh, s.cosh, s.tanh, s.erf))
magnitude, sign, floor, ceil, trunc, rint = map(unary, (s.abs_, s.sign, s.floor, s.ceil, s.trunc, s.round_))
isnan, isinf, isfinite, negate, holds_not, detach = map(
    unary, (s.isnan, s.isinf, s.isfinite, s.neg, s.not_, s.detach))

for _name, _f in {"add": add, "sub": sub, "mul": mul, "truediv": div, "pow": power, "floordiv": floor_divide,
                  "mod": remainder}.items():
    setattr(Node, f"__{_name}__", _f)
    setattr(Node, f"__r{_name}__", lambda b, a, f=_f: f(lift(a, b.dtype), b))
for _name, _f in {"lt": lt, "le": le, "gt": gt, "ge": ge}.items():
    setattr(Node, f"__{_name}__", _f)
Node.__neg__ = negate
Node.__and__ = both


def where(c, a, b):
    """a or b; what is not chosen has no derivative. A weak side takes the other's type."""
    if not isinstance(c, Node):
        return a if c else b
    a, b = (lift(x, next(y.dtype for y in (a, b) if isinstance(y, Node))) for x in (a, b))
    shape = join(c.shape, a.shape, b.shape)
    return emit(s.select, *[broadcast(x, shape) for x in (c, a, b)])


def to(x, dtype):
    return emit(s.convert, x, dtype=np.dtype(dtype).str)


def shaped(x, shape):
    return emit(reshape, x, shape=tuple(int(n) for n in shape))


def permuted(x, order):
    return emit(permute, x, order=tuple(order))


def moved(x, axes, places):
    """The axes `axes` at the places `places`, the others in order."""
    order = [i for i in range(x.rank) if i not in axes]
    for place, axis in sorted(zip(places, axes)):
        order.insert(place, axis)
    return permuted(x, order)


def cut(x, axis, start, stop, step=1):
    """Elements from start to before stop along one axis, whose ends are in range; steps may be negative."""
    starts, steps, shape = [0] * x.rank, [1] * x.rank, list(x.shape)
    starts[axis], steps[axis] = start, step
    shape[axis] = max(0, (stop - start + step - (1 if step > 0 else -1)) // step)
    return take_slice(x, starts, steps, shape)


def flipped(x, axes):
    starts = [x.shape[i] - 1 if i in axes and x.shape[i] else 0 for i in range(x.rank)]
    return take_slice(x, starts, [-1 if i in axes else 1 for i in range(x.rank)], x.shape)


def padded(x, low, high, value=0):
    if any(a + n + b < 0 for a, n, b in zip(low, x.shape, high)):
        raise Rejected("pad: a negative extent")
    return emit(pad, x, low=tuple(low), high=tuple(high), value=value)


def joined(xs, axis):
    return emit(concat, *xs, axis=axis) if len(xs) > 1 else xs[0]


def total(x, axes):
    return emit(reduce_sum, x, axes=tuple(sorted(axes))) if axes else x


def product(x, axes):
    return emit(reduce_prod, x, axes=tuple(sorted(axes))) if axes else x


def some(x, axes):
    return emit(reduce_any, x, axes=tuple(sorted(axes))) if axes else x


def every(x, axes):
    return emit(reduce_all, x, axes=tuple(sorted(axes))) if axes else x


def kept(x, axes, rank_of):
    """The result of a reduction with an extent of 1 in the place of each reduced axis."""
    shape, rest = [], list(x.shape)
    for i in range(rank_of):
        shape.append(1 if i in axes else rest.pop(0))
    return shaped(x, shape)


def size_of(x, axes):
    return int(np.prod([x.shape[i] for i in axes], dtype=np.int64))


def rows_last(x, axes):
    """The reduced axes as one, the last: positions along it are row-major positions over them."""
    order = [i for i in range(x.rank) if i not in axes] + list(axes)
    x = permuted(x, order)
    lead = x.shape[:x.rank - len(axes)]
    return shaped(x, lead + (int(np.prod(x.shape[x.rank - len(axes):], dtype=np.int64)),))


def position(x, axes, largest):
    rows = rows_last(x, axes)
    return emit(argmax if largest else argmin, rows, axes=(rows.rank - 1,))


def extremum(x, axes, largest=True):
    """The first largest or smallest over axes, by its position, so that one element has the derivative."""
    rows = rows_last(x, axes)
    at = emit(argmax if largest else argmin, rows, axes=(rows.rank - 1,))
    found = emit(take_along, rows, shaped(at, at.shape + (1,)), axis=rows.rank - 1)
    return shaped(found, at.shape)


def top(x, axes):
    """The largest over axes as a constant, 0 over nothing."""
    if size_of(x, axes) == 0:
        return constant(np.zeros([n for i, n in enumerate(x.shape) if i not in axes], x.dtype))
    return emit(reduce_max, detach(x), axes=tuple(sorted(axes)))


def contract(spec, a, b):
    operands, out = spec.split("->")
    left, right = operands.split(",")
    return emit(einsum, a, b, spec=(left, right, out))


def gathered(x, t, axis):
    return emit(take, x, t, axis=axis)


def gathered_along(x, t, axis):
    return emit(take_along, x, t, axis=axis)


def scattered(x, t, axis, extent):
    return emit(put, x, t, axis=axis, extent=extent)


def scattered_along(x, t, axis, extent):
    return emit(put_along, x, t, axis=axis, extent=extent)


def cumulative_sum(x, reverse):
    return emit(cumulate, x, reverse=reverse)


def cumulative_product(x, reverse):
    return emit(scan, x, s.like(x, -0.0), reverse=reverse, start=1)


def windowed(x, lead, kernel, stride, dilation):
    out = [(n - d * (k - 1) - 1) // t + 1 for n, k, t, d in zip(x.shape[lead:], kernel, stride, dilation)]
    return emit(windows, x, lead=lead, kernel=tuple(kernel), stride=tuple(stride), dilation=tuple(dilation),
                out=tuple(max(0, n) for n in out))


def folded(x, lead, kernel, stride, dilation, shape):
    return emit(fold, x, lead=lead, kernel=tuple(kernel), stride=tuple(stride), dilation=tuple(dilation),
                shape=tuple(shape))
