"""Tensors that are views of storage, links back to their operands, and tangents beside values."""
import os

import numpy as np

from wide import WIDE, less, over, plus, times

ARRAYS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
HELD = {**ARRAYS, "f32": WIDE, "f64": WIDE}  # reals are held wide and rounded when an operation ends
REALS = ("f32", "f64")
PLANTED = os.environ.get("ETALON_BLIND", "")
CACHE = {}


def planted(name):
    return PLANTED == name


def cached(key, make):
    if key not in CACHE:
        CACHE[key] = make()
    return CACHE[key]


class Unsupported(Exception):
    """What is not offered, and why."""


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


def dense(shape):
    """Strides in elements of a row-major tensor."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


class State:
    mode = "forward"
    count = 0


class Tensor:
    """A view: shape, strides and offset, in elements, of a storage that others may share."""

    __array_ufunc__ = None  # a number on the left leaves the operation to the tensor

    def __init__(self, storage, shape, strides, offset, dtype):
        self.storage, self.shape, self.strides, self.offset, self.dtype = storage, tuple(shape), tuple(strides), offset, dtype
        self.tangent, self.grad, self.links, self.exact = None, None, [], False
        State.count += 1
        self.number = State.count

    @property
    def real(self):
        return self.dtype in REALS

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def array(self):
        return laid(self.storage, self.shape, self.strides, self.offset)

    @property
    def contiguous(self):
        if planted("contiguous_by_last_stride") and self.rank == 2:
            return self.strides[-1] == 1 and self.storage.size >= self.size + self.offset
        pairs = [(s, d) for n, s, d in zip(self.shape, self.strides, dense(self.shape)) if n != 1]
        if planted("contiguous_by_magnitude"):
            pairs = [(abs(s), d) for s, d in pairs]
        return all(s == d for s, d in pairs)

    def flat(self):
        """The elements in row-major order; without a copy where they lie so."""
        if self.size and self.contiguous:
            start = 0 if planted("flat_forgets_offset") and self.rank == 1 else self.offset
            if planted("contiguous_by_magnitude"):
                start = min(start, self.storage.size - self.size)
            return self.storage[start:start + self.size]
        return self.array.reshape(-1)

    def __add__(self, other):
        return add(self, other)

    def __sub__(self, other):
        return sub(self, other)

    def __mul__(self, other):
        return mul(self, other)

    def __truediv__(self, other):
        return div(self, other)

    def __neg__(self):
        return unary(self, np.negative, lambda x, y: -np.ones_like(x))

    def __rsub__(self, other):
        return sub(lift(other, self), self)

    def __radd__(self, other):
        return add(lift(other, self), self)

    def __rtruediv__(self, other):
        return div(lift(other, self), self)

    __rmul__ = __mul__


def laid(storage, shape, strides, offset):
    if 0 in shape:
        return np.empty(shape, storage.dtype)
    return np.ndarray(shape, storage.dtype, storage, offset * storage.itemsize, tuple(s * storage.itemsize for s in strides))


def fresh(array, dtype):
    array = np.ascontiguousarray(array, HELD[dtype]).reshape(np.shape(array))
    return Tensor(array.reshape(-1), array.shape, dense(array.shape), 0, dtype)


def lift(number, like):
    return number if isinstance(number, Tensor) else fresh(np.asarray(number, HELD[like.dtype]), like.dtype)


def linked(y, *links):
    """Joins a result to its real operands: (operand, what a tangent does, what a cotangent does)."""
    for x, push, pull in links:
        if x is None or not x.real:
            continue
        if State.mode == "jvp" and x.tangent is not None:
            t = np.broadcast_to(push(x.tangent), y.shape)
            if y.tangent is None or planted("tangent_last_operand") and y.rank > 1:
                y.tangent = t
            else:
                y.tangent = plus(y.tangent, t)
        if State.mode == "vjp":
            y.links.append((x, pull))
    return y


def record(array, dtype, *links):
    return linked(fresh(array, dtype), *links)


def stored(x):
    """Rounded to its element type, as a result of the library."""
    if x.exact or not x.real:
        return x
    held = np.float32 if planted("tangent_in_f32") else WIDE
    y = record(x.array.astype(ARRAYS[x.dtype]).astype(WIDE), x.dtype, (x, lambda t: t.astype(held).astype(WIDE), lambda g: g))
    y.exact = True
    return y


def unbroadcast(g, shape):
    """The sum over what broadcasting repeated."""
    if planted("unbroadcast_leading_only"):
        g = g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
        return g if g.shape == tuple(shape) else g[tuple(slice(0, n) for n in shape)]
    if planted("unbroadcast_first_inner") and g.ndim == len(shape):
        inner = [i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1][:1]
        g = g.sum(tuple(inner), keepdims=True)
        return g[tuple(slice(0, n) for n in shape)]
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and g.shape[i + lead] != 1)
    return g.sum(axes, keepdims=True).reshape(shape) if axes else g.reshape(shape)


def binary(f, a, b, slope_a, slope_b, dtype=None):
    b = lift(b, a)
    x, z = a.array, b.array
    y = f(x, z)
    dtype = dtype or a.dtype
    if dtype == "bool" or not a.real:
        return fresh(y, dtype)
    pull = lambda s, shape: lambda g: unbroadcast(times(g, s), shape)
    p, q = slope_a(x, z, y), slope_b(x, z, y)
    return record(y, dtype, (a, lambda t: times(t, p), pull(p, a.shape)), (b, lambda t: times(t, q), pull(q, b.shape)))


def one(x, z, y):
    return WIDE(1)


def add(a, b):
    b = lift(b, a)
    y = plus(a.array, b.array)
    return record(y, a.dtype, (a, lambda t: t, lambda g: unbroadcast(g, a.shape)), (b, lambda t: t, lambda g: unbroadcast(g, b.shape)))


def sub(a, b):
    return binary(less, a, b, one, lambda x, z, y: WIDE(-1))


def mul(a, b):
    return binary(times, a, b, lambda x, z, y: z, lambda x, z, y: x)


def div(a, b):
    return binary(over, a, b, lambda x, z, y: 1 / z, lambda x, z, y: -y / z)


def unary(x, f, slope=None):
    """A function of each element; `slope` takes the element and the value."""
    y = f(x.flat()).reshape(x.shape)
    if slope is None or not x.real:
        return fresh(y, x.dtype)
    saved = x.array
    if State.mode == "forward":
        return fresh(y, x.dtype)
    s = slope(saved, y)
    return record(y, x.dtype, (x, lambda t: times(t, s), lambda g: times(g, s)))


def constant(x):
    y = fresh(x.array, x.dtype)
    if planted("detach_keeps_tangent"):
        y.tangent = x.tangent
    return y


def choose(c, a, b):
    """a where c (an array) holds, b elsewhere; neither cotangent meets the other's branch."""
    b = lift(b, a)
    y = np.where(c, a.array, b.array)
    if not a.real:
        return fresh(y, a.dtype)
    if planted("where_by_product") and State.mode == "vjp":
        pull_a = lambda g: unbroadcast(g * c + 0 * a.array, a.shape)
    else:
        pull_a = lambda g: unbroadcast(np.where(c, g, WIDE(0)), a.shape)
    return record(y, a.dtype, (a, lambda t: np.where(c, t, WIDE(0)), pull_a),
                  (b, lambda t: np.where(c, WIDE(0), t), lambda g: unbroadcast(np.where(c, WIDE(0), g), b.shape)))


def guarded(c, x, f, otherwise):
    """f(x) where c holds: elsewhere f sees 1, so that its slope there is nobody's business."""
    return choose(c, f(choose(c, x, 1)), otherwise)


def total(x, axes, keepdims=False):
    """The sum over axes."""
    axes = tuple(axes)
    a = x.array
    if planted("sum_long_rows_in_f32") and int(np.prod([x.shape[i] for i in axes], dtype=np.int64)) > 1024:
        y = a.astype(np.float32).sum(axes, keepdims=keepdims).astype(WIDE)
    else:
        y = a.sum(axes, dtype=a.dtype, keepdims=keepdims)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    if not a.size:
        return fresh(y, x.dtype)
    return record(y, x.dtype, (x, lambda t: t.sum(axes, keepdims=keepdims),
                               lambda g: np.broadcast_to(g.reshape(kept), x.shape)))


def average(x, axes, keepdims=False):
    n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    return total(x, axes, keepdims) / n


def largest(x, axes):
    """The largest over axes, kept, as a constant; 0 over none."""
    if any(x.shape[i] == 0 for i in axes):
        return fresh(np.zeros([1 if i in axes else n for i, n in enumerate(x.shape)]), x.dtype)
    return fresh(x.array.max(tuple(axes), keepdims=True), x.dtype)


def viewed(x, geometry, key=None):
    """Another view of x's storage: `geometry` maps shape, strides and offset."""
    shape, strides, offset = geometry(x.shape, x.strides, x.offset)
    y = Tensor(x.storage, shape, strides, offset, x.dtype)
    y.exact = x.exact
    if not x.real or State.mode == "forward":
        return y

    def places():
        s, d, o = geometry(x.shape, dense(x.shape), 0)
        return laid(np.arange(max(1, x.size)), s, d, o).reshape(-1)

    at = cached(("places", x.shape, key), places) if key else places()
    extents = x.shape

    def pull(g):
        found = np.zeros(x.size, WIDE)
        if planted("view_pull_assigns") and len(shape) > 3:
            found[at] = g.reshape(-1)
        else:
            np.add.at(found, at, g.reshape(-1))
        return found.reshape(extents)

    def push(t):
        if planted("view_tangent_in_storage_order") and at.size == t.size:
            return t.reshape(shape)
        return t.reshape(-1)[at].reshape(shape)

    return linked(y, (x, push, pull))


def contract(spec, a, b):
    """An einsum of two operands; each of its pulls is another."""
    left, out = spec.split("->")
    p, q = left.split(",")
    x, z = a.array, b.array
    y = np.einsum(spec, x, z)
    if not a.real:
        return fresh(y, a.dtype)
    if planted("contract_tangent_of_first") and a.tangent is not None:
        b = constant(b)
    return record(y, a.dtype, (a, lambda t: np.einsum(spec, t, z), lambda g: np.einsum(f"{out},{q}->{p}", g, z)),
                  (b, lambda t: np.einsum(spec, x, t), lambda g: np.einsum(f"{out},{p}->{q}", g, x)))


def accumulate(x, g):
    if x.grad is None:
        x.grad = g
    elif planted("seed_overwritten") and x.visits == 1 and getattr(x, "seeded", False):
        x.grad = g
    elif planted("grad_assigned_after_two") and x.visits > 1:
        x.grad = g
    elif planted("grad_in_place") and x.grad.flags.writeable and x.grad.shape == g.shape:
        x.grad += g
    else:
        x.grad = plus(x.grad, g)
    x.visits = getattr(x, "visits", 0) + 1


def backward(outputs, seeds):
    """Walks the tape from the last node to the first and adds up what comes back."""
    for y, g in zip(outputs, seeds):
        if g is not None and y.real:
            accumulate(y, g)
            y.seeded = True
    seen, order, stack = set(), [], list(outputs)
    while stack:
        y = stack.pop()
        if id(y) not in seen:
            seen.add(id(y))
            order.append(y)
            stack.extend(x for x, _ in y.links)
    if not planted("walk_depth_first"):
        order.sort(key=lambda y: -y.number)
    for y in order:
        if y.grad is not None:
            for x, pull in y.links:
                accumulate(x, np.asarray(pull(y.grad), WIDE))
