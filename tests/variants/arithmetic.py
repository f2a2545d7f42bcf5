"""Arithmetic of one element type: every operation of NumPy on it rounds once, and functions are rounded once from a wider type."""
import ctypes

import numpy as np

_erfl = ctypes.CDLL("libm.so.6").erfl
_erfl.argtypes, _erfl.restype = [ctypes.c_longdouble], ctypes.c_longdouble
_erfcl = ctypes.CDLL("libm.so.6").erfcl
_erfcl.argtypes, _erfcl.restype = [ctypes.c_longdouble], ctypes.c_longdouble


class Unsupported(Exception):
    """What is not offered (attribute, shape or mode), and why."""


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


def _once(f):
    return lambda self, *x: np.asarray(f(*(np.asarray(v).astype(self.wide) for v in x))).astype(self.T)


def _by_libm(f):
    return lambda self, x: np.array([f(float(v)) for v in np.ravel(x)], self.T).reshape(np.shape(x))


class Kit:
    """The operations of one type; constants are rounded to it, as a library's are when it meets a tensor of that type."""

    def __init__(self, T):
        self.T, self.wide = T, np.float64 if T is np.float32 else np.longdouble

    def c(self, value):
        return self.T(value)

    exp, log, log1p, expm1 = _once(np.exp), _once(np.log), _once(np.log1p), _once(np.expm1)
    exp2, log2, sin, cos = _once(np.exp2), _once(np.log2), _once(np.sin), _once(np.cos)
    tan, sinh, cosh, tanh = _once(np.tan), _once(np.sinh), _once(np.cosh), _once(np.tanh)
    pow, atan2 = _once(np.power), _once(np.arctan2)
    erf, erfc = _by_libm(_erfl), _by_libm(_erfcl)

    def zeros(self, shape):
        return np.zeros(shape, self.T)

    def ones(self, shape):
        return np.ones(shape, self.T)

    def folded(self, terms, start=None):
        """The terms added one after the other, along the first axis."""
        total = self.zeros(terms.shape[1:]) if start is None else start
        for term in terms:
            total = total + term
        return total

    def reduced(self, each, reduction):
        total = np.sum(each)
        return each if reduction == "none" else self.T(total) if reduction == "sum" else self.T(total) / self.c(each.size)

    def spread(self, g, shape, reduction):
        """The cotangent of each term of a loss."""
        if reduction == "none":
            return g
        size = self.c(int(np.prod(shape)))
        return np.broadcast_to(g if reduction == "sum" else g / size, shape)


def gathered(g, shape):
    """The cotangent of an operand that was broadcast to g's shape."""
    g = np.sum(g, axis=tuple(range(g.ndim - len(shape)))) if g.ndim > len(shape) else g
    kept = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return np.sum(g, axis=kept, keepdims=True).reshape(shape) if kept else np.reshape(g, shape)


def listed(value):
    """One number stands for every axis."""
    return value if isinstance(value, list) else [value]


def number(value):
    """What JSON cannot write as a number is a string."""
    return float(value) if isinstance(value, str) and value in ("nan", "inf", "-inf") else value


class Variant:
    """One way in which a library computes an operation: values, and derivatives where it has formulas of its own."""

    def __init__(self, name, operation, source, value, vjp=None, jvp=None, loses=None, rare=False):
        self.name, self.operation, self.source = name, operation, source
        self.value, self.vjp, self.jvp = value, vjp, jvp
        self.loses = loses or {}  # by element type and mode: why
        self.rare = rare  # a run may meet no case that shows a loss

    @property
    def modes(self):
        return ["forward"] + ["jvp"] * (self.jvp is not None) + ["vjp"] * (self.vjp is not None)
