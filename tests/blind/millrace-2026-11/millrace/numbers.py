"""Functions of reals. Those of f64 go through the extended type and are rounded once."""
import math

import numpy as np

LD = np.longdouble
erf_of = np.frompyfunc(lambda v: math.erf(float(v)), 1, 1)


def erf(x):
    x = np.asarray(x)
    return np.asarray(erf_of(x.astype(np.float64))).astype(x.dtype) if x.size else x


def through(f):
    """The function at the extended type, rounded to the operand's own."""
    def function(*xs):
        xs = [np.asarray(x) for x in xs]
        kind = xs[0].dtype
        return np.asarray(f(*[x.astype(LD) for x in xs])).astype(kind)
    return function


exp, exp2, expm1 = through(np.exp), through(np.exp2), through(np.expm1)
log, log2, log1p = through(np.log), through(np.log2), through(np.log1p)
sin, cos, tan = through(np.sin), through(np.cos), through(np.tan)
sinh, cosh, tanh = through(np.sinh), through(np.cosh), through(np.tanh)
atan2 = through(np.arctan2)
power = through(np.power)


def logistic(x):
    """1/(1 + e^-x) at the operand's own type, without overflow."""
    x = np.asarray(x)
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def slope_of_tanh(x):
    """1/cosh^2, without cancelling."""
    e = np.exp(-2 * np.abs(np.asarray(x)))
    return 4 * e / ((1 + e) * (1 + e))


def softplus(x):
    x = np.asarray(x)
    return np.where(x <= 0, np.log1p(np.exp(np.minimum(x, 0))), x + np.log1p(np.exp(-np.maximum(x, 0))))


def floor_divide(a, b):
    if a.dtype.kind == "f":
        return np.floor(np.divide(a, b))
    safe = np.where(b == 0, 1, b)
    lowest = (safe == -1)
    return np.where(b == 0, 0, np.where(lowest, -a, np.floor_divide(a, np.where(lowest, 1, safe))))


def remainder(a, b):
    if a.dtype.kind == "f":
        # Exact, with the sign of b; a zero keeps the sign of b too.
        r = np.fmod(a, b)
        return np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
    safe = np.where((b == 0) | (b == -1), 1, b)
    return np.remainder(a, safe)
