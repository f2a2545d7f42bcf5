"""The traced graph: nodes that are made once each, and a simplifier that works while they are made."""
import itertools

import numpy as np

from tracer.faults import fault

WIDE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.float64): np.dtype(np.longdouble)}
FOLD_LIMIT = 4096
_numbers = itertools.count()


def wide(dtype):
    """The type in which the arithmetic of a stored type is done."""
    return WIDE.get(np.dtype(dtype), np.dtype(dtype))


class Node:
    """One value: a primitive of other nodes. Numbers grow along every path, which gives the order of evaluation."""
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
        self.moves = False

    def __repr__(self):
        return self.name


class Trace:
    """A table of the nodes made so far, so that equal ones are made once."""

    def __init__(self):
        self.known = {}

    def emit(self, prim, args, **params):
        from tracer.simplify import simplified
        frozen = tuple(sorted(params.items()))
        found = simplified(self, prim, args, params)
        if found is not None:
            return found
        numbers = tuple(a.number for a in args)
        if fault("cse_sorts_operands") and len(args) == 2:
            numbers = tuple(sorted(numbers))
        key = (prim.name, numbers, frozen)
        if key not in self.known:
            shape, dtype = prim.shape(*args, **params)
            self.known[key] = Node(prim, tuple(args), params, shape, dtype)
        return self.known[key]

    def constant(self, value, dtype=None):
        value = np.asarray(value, dtype)
        key = ("constant", value.dtype.str, value.shape, value.tobytes() if value.size <= FOLD_LIMIT else id(value))
        if key not in self.known:
            self.known[key] = Node(None, (), {}, value.shape, value.dtype, value)
        return self.known[key]


_stack = [Trace()]


def current():
    return _stack[-1]


class tracing:
    """Makes a trace the current one for a while."""

    def __init__(self, trace):
        self.trace = trace

    def __enter__(self):
        _stack.append(self.trace)
        return self.trace

    def __exit__(self, *_):
        _stack.pop()


def reachable(outputs):
    """All nodes that the outputs need, in an order of evaluation: what is not among them is dead."""
    seen, todo = {}, [o for o in outputs if o is not None]
    while todo:
        node = todo.pop()
        if node.number not in seen:
            seen[node.number] = node
            todo.extend(node.args)
    return [seen[n] for n in sorted(seen)]


def variable(shape, dtype):
    return Node(None, (), {}, shape, dtype)


def constant(value, dtype=None):
    return current().constant(value, dtype)


class Jaxpr:
    """A traced function: its inputs and outputs, to be written into other traces."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        self.order = reachable(outputs)

    def inline(self, operands):
        trace, env = current(), {}
        for formal, actual in zip(self.inputs, operands):
            env[formal.number] = actual
        for node in self.order:
            if node.number in env:
                continue
            if node.value is not None:
                env[node.number] = trace.constant(node.value)
            else:
                env[node.number] = trace.emit(node.prim, tuple(env[a.number] for a in node.args), **node.params)
        return [env[o.number] for o in self.outputs]
