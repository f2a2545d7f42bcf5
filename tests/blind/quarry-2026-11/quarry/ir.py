"""The graph: nodes are written down as they come, and passes (quarry/passes) rewrite what was written."""
import itertools

import numpy as np

WIDE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.float64): np.dtype(np.longdouble)}
_numbers = itertools.count()


def wide(dtype):
    """The type in which the arithmetic of a stored type is done."""
    return WIDE.get(np.dtype(dtype), np.dtype(dtype))


class Node:
    """One value: a primitive of other nodes, a constant (`value`), or what comes in. Numbers grow along every path,
    which gives the order of evaluation."""
    __slots__ = ("prim", "args", "params", "shape", "dtype", "number", "value")
    __array_ufunc__ = None

    def __init__(self, prim, args, params, shape, dtype, value=None):
        self.prim, self.args, self.params = prim, args, params
        self.shape, self.dtype, self.value = tuple(shape), np.dtype(dtype), value
        self.number = next(_numbers)

    @property
    def real(self):
        return self.dtype.kind == "f"

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))


class Primitive:
    """What a primitive computes, its shape rule, its JVP rule, and its transpose where it can be linear."""

    def __init__(self, name):
        self.name = name
        self.impl = self.shape = self.jvp = self.transpose = None
        self.moves = False  # a view: no arithmetic, no buffer
        self.elementwise = False

    def __repr__(self):
        return self.name


def make(prim, args, **params):
    shape, dtype = prim.shape(*args, **params)
    return Node(prim, tuple(args), params, shape, dtype)


def constant(value, dtype=None):
    value = np.asarray(value, dtype)
    return Node(None, (), {}, value.shape, value.dtype, value)


def variable(shape, dtype):
    return Node(None, (), {}, shape, dtype)


def reachable(outputs):
    """All nodes that the outputs need, in an order of evaluation: what is not among them is dead."""
    seen, todo = {}, [o for o in outputs if o is not None]
    while todo:
        node = todo.pop()
        if node.number not in seen:
            seen[node.number] = node
            todo.extend(node.args)
    return [seen[n] for n in sorted(seen)]


def rewrite(outputs, rule):
    """The outputs after `rule(node, new arguments)` has seen every node once; None from it keeps the node."""
    new = {}
    for node in reachable(outputs):
        if node.prim is None:
            found = rule(node, ())
            new[node.number] = node if found is None else found
            continue
        args = tuple(new[a.number] for a in node.args)
        found = rule(node, args)
        if found is None:
            same = all(a is b for a, b in zip(args, node.args))
            found = node if same else Node(node.prim, args, node.params, node.shape, node.dtype)
        new[node.number] = found
    return [None if o is None else new[o.number] for o in outputs]


def consumers(outputs):
    """By number, the nodes that read each node."""
    found = {}
    for node in reachable(outputs):
        for a in node.args:
            found.setdefault(a.number, []).append(node)
    return found
