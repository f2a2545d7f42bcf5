"""Composite operations are lowered to primitives on a tape, each with its linear map and the map's transpose."""
import numpy as np

from . import numbers
from .rule import Op, unbroadcast


class Var:
    """A number of the tape. `links` are (parent, forward map, transposed map)."""
    __array_priority__ = 100

    def __init__(self, value, links=()):
        self.v, self.links = value, links

    @property
    def shape(self):
        return self.v.shape

    def __add__(self, o):
        o = lift(o, self)
        s, t = self.v.shape, o.v.shape
        out = self.v + o.v
        return Var(out, ((self, lambda d: np.broadcast_to(d, out.shape), lambda g: unbroadcast(g, s)),
                         (o, lambda d: np.broadcast_to(d, out.shape), lambda g: unbroadcast(g, t))))

    def __sub__(self, o):
        o = lift(o, self)
        s, t = self.v.shape, o.v.shape
        out = self.v - o.v
        return Var(out, ((self, lambda d: np.broadcast_to(d, out.shape), lambda g: unbroadcast(g, s)),
                         (o, lambda d: np.broadcast_to(-d, out.shape), lambda g: unbroadcast(-g, t))))

    def __mul__(self, o):
        o = lift(o, self)
        a, b = self.v, o.v
        return Var(a * b, ((self, lambda d: d * b, lambda g: unbroadcast(g * b, a.shape)),
                           (o, lambda d: a * d, lambda g: unbroadcast(g * a, b.shape))))

    def __truediv__(self, o):
        o = lift(o, self)
        a, b = self.v, o.v
        y = a / b
        return Var(y, ((self, lambda d: d / b, lambda g: unbroadcast(g / b, a.shape)),
                       (o, lambda d: -(y * d) / b, lambda g: unbroadcast(-(g * y) / b, b.shape))))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, o):
        return lift(o, self) - self

    def __rtruediv__(self, o):
        return lift(o, self) / self

    def __neg__(self):
        return Var(-self.v, ((self, lambda d: -d, lambda g: -g),))

    def __getitem__(self, key):
        shape = self.v.shape

        def back(g):
            full = np.zeros(shape, g.dtype)
            np.add.at(full, key, g)
            return full
        return Var(self.v[key], ((self, lambda d: d[key], back),))


def lift(o, like):
    return o if isinstance(o, Var) else Var(np.asarray(o, like.v.dtype))


def pointwise(x, y, slope):
    """slope() is computed when a derivative asks for it."""
    return Var(y, ((x, lambda d: slope() * d, lambda g: slope() * g),))


LOGISTIC = numbers.through(numbers.logistic)


def exp(x):
    y = numbers.exp(x.v)
    return pointwise(x, y, lambda: y)


def log(x):
    return pointwise(x, numbers.log(x.v), lambda: 1 / x.v)


def log1p(x):
    return pointwise(x, numbers.log1p(x.v), lambda: 1 / (1 + x.v))


def expm1(x):
    return pointwise(x, numbers.expm1(x.v), lambda: numbers.exp(x.v))


def sqrt(x):
    y = np.sqrt(x.v)
    return pointwise(x, y, lambda: 0.5 / y)


def tanh(x):
    return pointwise(x, numbers.tanh(x.v), lambda: numbers.through(numbers.slope_of_tanh)(x.v))


def absolute(x):
    return pointwise(x, np.abs(x.v), lambda: np.sign(x.v))


def logistic(x):
    return pointwise(x, LOGISTIC(x.v), lambda: LOGISTIC(x.v) * LOGISTIC(-x.v))


def softplus(x):
    return pointwise(x, numbers.through(numbers.softplus)(x.v), lambda: LOGISTIC(x.v))


def power(base, e):
    """A number to a power; both may be of the tape."""
    e = lift(e, base)
    a, b = base.v, e.v
    y = numbers.power(a, b)
    return Var(y, ((base, lambda d: b * numbers.power(a, b - 1) * d,
                    lambda g: unbroadcast(g * b * numbers.power(a, b - 1), a.shape)),
                   (e, lambda d: y * numbers.log(a) * d, lambda g: unbroadcast(g * y * numbers.log(a), b.shape))))


def where(c, a, b):
    like = a if isinstance(a, Var) else b
    a, b = lift(a, like), lift(b, like)
    y = np.where(c, a.v, b.v)

    def pick(d, side):
        return np.where(c, d, 0) if side else np.where(c, 0, d)
    return Var(y, ((a, lambda d: np.broadcast_to(pick(d, True), y.shape),
                    lambda g: unbroadcast(pick(g, True), a.v.shape)),
                   (b, lambda d: np.broadcast_to(pick(d, False), y.shape),
                    lambda g: unbroadcast(pick(g, False), b.v.shape))))


def maximum(a, b):
    b = lift(b, a)
    u = np.where(a.v > b.v, 1, np.where(a.v == b.v, 0.5, 0))
    w = np.where(b.v > a.v, 1, np.where(a.v == b.v, 0.5, 0))

    def part(weight, d):
        return np.where(weight == 0, 0, weight * d)
    y = np.maximum(a.v, b.v)
    return Var(y, ((a, lambda d: part(u, d), lambda g: unbroadcast(part(u, g), a.v.shape)),
                   (b, lambda d: part(w, d), lambda g: unbroadcast(part(w, g), b.v.shape))))


def total(x, axes=None, keepdims=False):
    axes = tuple(range(x.v.ndim)) if axes is None else tuple(axes)
    shape = x.v.shape
    kept = tuple(1 if k in axes else n for k, n in enumerate(shape))
    return Var(np.asarray(x.v.sum(axis=axes, keepdims=keepdims)),
               ((x, lambda d: np.asarray(d.sum(axis=axes, keepdims=keepdims)),
                 lambda g: np.broadcast_to(g.reshape(kept), shape)),))


def matmul(a, b):
    """Matrices in the last two axes, broadcast before them."""
    def t(m):
        return np.swapaxes(m, -1, -2)
    return Var(np.matmul(a.v, b.v), (
        (a, lambda d: np.matmul(d, b.v), lambda g: unbroadcast(np.matmul(g, t(b.v)), a.v.shape)),
        (b, lambda d: np.matmul(a.v, d), lambda g: unbroadcast(np.matmul(t(a.v), g), b.v.shape))))


def moved(x, f, back):
    """A movement f of elements, and its inverse."""
    return Var(f(x.v), ((x, f, back),))


def transpose(x, permutation):
    inverse = np.argsort(permutation)
    return moved(x, lambda d: np.transpose(d, permutation), lambda g: np.transpose(g, inverse))


def reshape(x, shape):
    old = x.v.shape
    return moved(x, lambda d: np.reshape(d, shape), lambda g: np.reshape(g, old))


def detach(x):
    return Var(x.v)


def ordered(roots):
    """All numbers of the tape that the roots need, parents first."""
    found, seen, stack = [], set(), [(r, False) for r in roots]
    while stack:
        node, done = stack.pop()
        if done:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent, _, _ in node.links)
    return found


def lowered(name, result=None, extended=False, running=()):
    """Registers a function of attributes and operands (numbers of the tape; integers, truth values and None as is)."""
    def register(f):
        def trace(c):
            leaves = [Var(x) if x is not None and d in ("f32", "f64") else x for x, d in zip(c.x, c.dtypes)]
            extra = {n: Var(np.asarray(v)) for n, v in c.running.items()}
            out = f(c, {**c.a, **extra}, *leaves)
            c.memo["leaves"] = leaves + list(extra.values())
            c.memo["roots"] = list(out) if isinstance(out, tuple) else [out]

        def forward(c):
            trace(c)
            return [r.v if isinstance(r, Var) else r for r in c.memo["roots"]]

        def jvp(c, ts):
            trace(c)
            moving = {id(v): np.asarray(t) for v, t in zip(c.memo["leaves"], ts) if t is not None}
            roots = c.memo["roots"]
            for node in ordered(roots):
                parts = [(fwd, moving[id(p)]) for p, fwd, _ in node.links if id(p) in moving]
                for fwd, t in parts:
                    step = fwd(t)
                    moving[id(node)] = moving[id(node)] + step if id(node) in moving else step
            return [moving.get(id(r)) for r in roots]

        def vjp(c, gs):
            trace(c)
            roots, pulls = c.memo["roots"], {}
            for r, g in zip(roots, gs):
                if g is not None:
                    pulls[id(r)] = pulls[id(r)] + g if id(r) in pulls else g
            for node in reversed(ordered(roots)):
                g = pulls.get(id(node))
                if g is None:
                    continue
                for p, _, back in node.links:
                    step = back(g)
                    pulls[id(p)] = pulls[id(p)] + step if id(p) in pulls else step
            return [pulls.get(id(v)) if isinstance(v, Var) else None for v in c.memo["leaves"]]

        op = Op(name, "call", forward, jvp, vjp, result, extended=extended)
        op.running = running
        return f
    return register
