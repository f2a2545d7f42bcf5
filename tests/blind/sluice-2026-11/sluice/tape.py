"""Variables inside of one call: wide arrays with a tangent, and closures for the way back."""
import itertools

import numpy as np


_count = itertools.count()


class Var:
    """An array of the wide type; `links` are (parent, pull, push) of what it was computed from."""
    __slots__ = ("a", "dot", "needs", "links", "seq")

    def __init__(self, a, needs=False, dot=None):
        self.a, self.needs, self.dot = np.asarray(a), needs, dot
        self.links, self.seq = (), next(_count)

    shape = property(lambda self: self.a.shape)
    ndim = property(lambda self: self.a.ndim)

    def __add__(self, o): return ops["add"](self, o)
    __radd__ = __add__
    def __sub__(self, o): return ops["sub"](self, o)
    def __rsub__(self, o): return ops["sub"](o, self)
    def __mul__(self, o): return ops["mul"](self, o)
    __rmul__ = __mul__
    def __truediv__(self, o): return ops["div"](self, o)
    def __rtruediv__(self, o): return ops["div"](o, self)
    def __neg__(self): return ops["neg"](self)


ops = {}  # the operators' kernels, filled by elementwise.py


def lift(x, like=None):
    if isinstance(x, Var):
        return x
    return Var(np.asarray(x, None if like is None else like.a.dtype))


def node(a, *links):
    """The value `a` with, per parent, the linear map of cotangents back and that of tangents forward."""
    v = Var(a)
    v.needs = any(p.needs for p, _, _ in links)
    if v.needs:
        v.links = tuple((p, pull) for p, pull, _ in links if p.needs)
    for p, _, push in links:
        if p.dot is not None:
            d = push(p.dot)
            v.dot = d if v.dot is None else v.dot + d
    if v.dot is not None:
        v.dot = np.broadcast_to(v.dot, v.shape)
    return v


def detach(x):
    return Var(x.a)


def fit(g, shape):
    """The cotangent of an operand that was broadcast: sums over the axes that it lacks."""
    g = np.asarray(g)
    if g.shape == tuple(shape):
        return g
    if g.ndim > len(shape):
        g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    thin = tuple(i for i, (n, m) in enumerate(zip(shape, g.shape)) if n == 1 and m != 1)
    if thin:
        g = g.sum(axis=thin, keepdims=True)
    return g


def elementwise(a, *pairs):
    """A node of an elementwise function: pairs of parent and a function that gives the factor."""
    links = []
    for p, factor in pairs:
        links.append((p, lambda g, p=p, f=factor: fit(g * f(), p.shape), lambda d, f=factor: d * f()))
    return node(a, *links)


def backward(results, seeds):
    """Cotangents of all variables, by identity; those of one variable are added."""
    grads, todo = {}, {}
    for v, g in zip(results, seeds):
        if g is not None and v.needs:
            grads[id(v)] = grads[id(v)] + g if id(v) in grads else g
            todo[v.seq] = v
    while todo:
        v = todo.pop(max(todo))
        g = grads[id(v)]
        for p, pull in v.links:
            part = pull(g)
            grads[id(p)] = grads[id(p)] + part if id(p) in grads else part
            todo[p.seq] = p
    return grads
