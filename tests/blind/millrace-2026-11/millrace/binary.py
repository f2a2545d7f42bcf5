"""Elementwise operations on several operands, whose rows join by broadcasting."""
import numpy as np

from . import numbers as N
from .elementwise import boolean, mapped
from .rule import Op, unbroadcast
from .switch import planted


def ones(x, y):
    return np.ones(y.shape, y.dtype)


mapped("add", lambda c, a, b: a + b, lambda c, xs, y: [ones(xs[0], y)] * 2, saves="")
mapped("sub", lambda c, a, b: a - b,
       lambda c, xs, y: [ones(xs[0], y), ones(xs[0], y) if planted("sub_second_sign") else -ones(xs[1], y)], saves="")
mapped("mul", lambda c, a, b: a * b, lambda c, xs, y: [xs[1], xs[0]])
mapped("fma", lambda c, a, b, d: a * b + d, lambda c, xs, y: [xs[1], xs[0], ones(xs[2], y)])


def div_jvp(c, ts):
    b, y = c.x[1], c.y[0]
    if ts[0] is None:
        return [-(y * ts[1]) / b]
    if ts[1] is None:
        return [np.broadcast_to(ts[0] / b, y.shape)]
    return [(ts[0] - y * ts[1]) / b]


def div_vjp(c, gs):
    a, b = c.x
    g = gs[0]
    return [unbroadcast(g / b, a.shape) if c.wanted[0] else None,
            unbroadcast(-(g * ((a / b) / b)), b.shape) if c.wanted[1] else None]


Op("div", "map", lambda c: [c.x[0] / c.x[1]], div_jvp, div_vjp, None, "x")


def pow_slope(c, xs, y):
    a, b = np.broadcast_arrays(*xs)
    by_base = b * N.power(a, b - 1)
    by_base = np.where(b == 0, 0, by_base)
    log = np.log(a.astype(N.LD))
    by_exponent = (np.power(a.astype(N.LD), b.astype(N.LD)) * log).astype(y.dtype)
    by_exponent = np.where((a == 0) & ~(b < 0), 0, by_exponent)
    if planted("pow_exponent_log2"):
        by_exponent = by_exponent / np.log(2)
    return [by_base, by_exponent]


mapped("pow", lambda c, a, b: N.power(*np.broadcast_arrays(a, b)), pow_slope)


def tied(wins, a, b):
    w = np.where(wins, 1.0, np.where(a == b, 0.5, 0.0))
    return [w, np.where(np.isnan(a) | np.isnan(b), 0.0, 1 - w)]


def maximum_slope(c, xs, y):
    a, b = np.broadcast_arrays(*xs)
    return tied(a > b, a, b)


def minimum_slope(c, xs, y):
    a, b = np.broadcast_arrays(*xs)
    if planted("minimum_tie_whole"):
        return [np.where(a <= b, 1.0, 0.0), np.where(a <= b, 0.0, 1.0)]
    return tied(a < b, a, b)


def minimum_value(c, a, b):
    return np.minimum(a, b)


mapped("maximum", lambda c, a, b: np.maximum(a, b), maximum_slope, exact=True)
mapped("minimum", minimum_value, minimum_slope, exact=True)


def remainder_value(c, a, b):
    a, b = np.broadcast_arrays(a, b)
    if planted("remainder_sign_of_dividend"):
        return np.fmod(a, b) if a.dtype.kind == "f" else np.fmod(a, np.where((b == 0) | (b == -1), 1, b))
    return N.remainder(a, b)


def floor_divide_value(c, a, b):
    a, b = np.broadcast_arrays(a, b)
    return N.floor_divide(a, b)


def remainder_slope(c, xs, y):
    a, b = np.broadcast_arrays(*xs)
    turns = np.floor(a / b)
    return [ones(a, y), -turns]


mapped("remainder", remainder_value, remainder_slope)
mapped("floor_divide", floor_divide_value, lambda c, xs, y: [np.zeros_like(y), np.zeros_like(y)], exact=True)


def atan2_slope(c, xs, y):
    a, b = np.broadcast_arrays(*xs)
    return [N.through(lambda u, v: v / (u * u + v * v))(a, b), N.through(lambda u, v: -u / (u * u + v * v))(a, b)]


def atan2_jvp(c, ts):
    a, b = c.x
    r = 1 / (a * a + b * b)
    parts = [f * t for f, t in ((b, ts[0]), (-a, ts[1])) if t is not None]
    return [np.broadcast_to((parts[0] + parts[1] if len(parts) == 2 else parts[0]) * r, c.y[0].shape)]


ATAN2 = mapped("atan2", lambda c, a, b: N.atan2(*np.broadcast_arrays(a, b)), atan2_slope)
ATAN2.jvp = atan2_jvp


def where_slope(c, xs, y):
    chosen = np.broadcast_to(xs[0], y.shape)
    return [None, np.where(chosen, 1, 0), np.where(chosen, 0, 1)]


def where_value(c, condition, a, b):
    if planted("where_by_products") and a.dtype.kind == "f":
        return condition * a + (~condition) * b
    return np.where(condition, a, b)


mapped("where", where_value, where_slope, result=lambda c: c.dtypes[1], saves="x", exact=True)

for name, f in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "ge": np.greater_equal,
                "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}.items():
    mapped(name, lambda c, a, b, f=f: f(a, b), result=boolean, saves="")


def le_value(c, a, b):
    return ~(a > b) if planted("le_as_not_greater") else np.less_equal(a, b)


mapped("le", le_value, result=boolean, saves="")
