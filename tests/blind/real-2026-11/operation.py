"""What an operation of the backend is, and what it may see of the call that asks for it."""
import numpy as np

NUMBERS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


class Unsupported(Exception):
    """What is not offered (operation, dtype, mode, attribute, shape, layout or request), and why."""


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


class Call:
    """Names, element types and layouts of the operands; who made what; tangents in jvp."""

    def __init__(self, operation, names, types, layouts, makers):
        self.operation, self.names, self.types, self.layouts, self.makers = operation, names, types, layouts, makers
        self.tangents = [None] * len(names)

    def real(self):
        """The NumPy type of the call's reals."""
        return NUMBERS[next(t for t in self.types if t in ("f32", "f64"))]


class Operation:
    """forward(a, call, *x), vjp(a, call, x, y, g) and jvp(a, call, x, y, dx); None where it is not offered."""

    def __init__(self, forward, vjp=None, jvp=None):
        self.forward, self.vjp, self.jvp = forward, vjp, jvp


def real(x):
    return x.dtype.kind == "f"


def summed_to(g, shape):
    """The cotangent of a broadcast operand."""
    g = g.sum(tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
    ones = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return g.sum(ones, keepdims=True) if ones else g


def each(v, rank):
    """One number where a list is due stands for every axis."""
    return list(v) if isinstance(v, (list, tuple)) else [v] * rank
