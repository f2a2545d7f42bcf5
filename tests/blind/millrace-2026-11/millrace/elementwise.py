"""Elementwise operations: `value` and, per operand, the partial derivative, both of whole tiles."""
import numpy as np

from . import numbers as N
from .rule import Op, unbroadcast
from .switch import planted
from .tensors import DTYPES, INTS

TYPES = {"bool": "bool"}


def same(c):
    return next(d for d in c.dtypes if d)


def boolean(c):
    return "bool"


def branch(weight, d):
    """weight*d, where a weight of 0 is a branch that was not taken."""
    return np.where(weight == 0, 0, weight * d)


def over(q, d):
    """A quotient; q is its divisor, or factor and divisor."""
    return q[0] * d / q[1] if isinstance(q, tuple) else d / q


def mapped(name, value, slope=None, result=same, saves="x", exact=False, divides=False):
    """slope(c, xs, y) gives one factor per operand, or None; `exact` slopes select, those that divide are divisors."""
    times = branch if exact else over if divides else np.multiply

    def forward(c):
        return [value(c, *c.x)]

    def jvp(c, ts):
        if slope is None:
            return [None]
        parts = [times(s, t) for s, t in zip(slope(c, c.x, c.y[0]), ts) if t is not None and s is not None]
        if not parts:
            return [None]
        out = parts[0]
        for p in parts[1:]:
            out = out + p
        return [np.broadcast_to(out, c.y[0].shape)]

    def vjp(c, gs):
        g = gs[0]
        if slope is None or g is None:
            return [None] * len(c.x)
        return [unbroadcast(np.broadcast_to(times(s, g), g.shape), x.shape) if w and s is not None else None
                for s, x, w in zip(slope(c, c.x, c.y[0]), c.x, c.wanted)]
    return Op(name, "map", forward, jvp, vjp, result, saves)


def unary(name, value, slope=None, **more):
    return mapped(name, lambda c, x: value(c, x), slope and (lambda c, xs, y: [slope(c, xs[0], y)]), **more)


# Arithmetic on one operand.
unary("neg", lambda c, x: -x, lambda c, x, y: np.full_like(x, -1), saves="")


def sign_of(c, x):
    s = np.sign(x)
    return s


def abs_slope(c, x, y):
    return np.sign(x)


unary("abs", lambda c, x: np.abs(x), abs_slope)
unary("sign", sign_of, lambda c, x, y: np.zeros_like(x), exact=True)
unary("square", lambda c, x: x * x, lambda c, x, y: 2 * x)
unary("sqrt", lambda c, x: np.sqrt(x), lambda c, x, y: 2 * np.sqrt(x), divides=True)
unary("rsqrt", lambda c, x: 1 / np.sqrt(x), lambda c, x, y: -(0.5 * y * y * y), saves="y")
unary("reciprocal", lambda c, x: 1 / x,
      lambda c, x, y: -1 / x if planted("reciprocal_slope_once") else N.through(lambda v: -1 / (v * v))(x))
unary("exp", lambda c, x: N.exp(x), lambda c, x, y: y, saves="y")
unary("exp2", lambda c, x: N.exp2(x), lambda c, x, y: y * np.log(np.asarray(2, y.dtype)), saves="y")
unary("expm1", lambda c, x: N.exp(x) - 1 if planted("expm1_as_exp_less_one") else N.expm1(x),
      lambda c, x, y: N.exp(x))
unary("log", lambda c, x: N.log(x), lambda c, x, y: x, divides=True)
unary("log2", lambda c, x: N.log2(x),
      lambda c, x, y: x if planted("log2_slope_natural") else x * np.log(np.asarray(2, x.dtype)), divides=True)
unary("log1p", lambda c, x: N.log1p(x), lambda c, x, y: 1 + x, divides=True)
unary("sin", lambda c, x: N.sin(x), lambda c, x, y: N.cos(x))
unary("cos", lambda c, x: N.cos(x), lambda c, x, y: -N.sin(x))
unary("tan", lambda c, x: N.tan(x), lambda c, x, y: N.through(lambda v: 1 / (np.cos(v) * np.cos(v)))(x))
unary("sinh", lambda c, x: N.sinh(x), lambda c, x, y: N.cosh(x))
unary("cosh", lambda c, x: N.cosh(x), lambda c, x, y: N.sinh(x))
unary("tanh", lambda c, x: N.tanh(x), lambda c, x, y: N.through(N.slope_of_tanh)(x))
unary("erf", lambda c, x: N.erf(x), lambda c, x, y: 2 / np.sqrt(np.asarray(np.pi)) * N.exp(-(x * x)))


# Activations.
def softplus_value(c, x):
    beta = c.a["beta"]
    return N.through(lambda v: N.softplus(np.asarray(beta, v.dtype) * v) / beta)(x)


def softplus_slope(c, x, y):
    return N.through(N.logistic)(c.a["beta"] * x)


def gelu_inner(x):
    return np.sqrt(np.asarray(2 / N.LD(np.pi), x.dtype)) * (x + 0.044715 * x * x * x)


def gelu_value(c, x):
    if c.a["approximate"] == "tanh":
        return x * ((1 + N.tanh(gelu_inner(x))) / 2)
    return x * ((1 + N.erf(x / np.sqrt(np.asarray(2, x.dtype)))) / 2)


def gelu_slope(c, x, y):
    if c.a["approximate"] == "tanh":
        t = N.tanh(gelu_inner(x))
        inner = np.sqrt(np.asarray(2 / N.LD(np.pi), x.dtype)) * (1 + 3 * 0.044715 * x * x)
        if planted("gelu_tanh_slope_cubic"):
            inner = np.sqrt(np.asarray(2 / N.LD(np.pi), x.dtype)) * (1 + 0.044715 * x * x)
        return (1 + t) / 2 + x * ((1 - t * t) * inner / 2)
    return (1 + N.erf(x / np.sqrt(np.asarray(2, x.dtype)))) / 2 + x * N.exp(-(x * x) / 2) / np.sqrt(
        np.asarray(2 * N.LD(np.pi), x.dtype))


def elu_slope(c, x, y):
    alpha = c.a["alpha"]
    if planted("elu_slope_from_sign_of_result"):
        return np.where(y >= 0, 1.0, y + alpha)
    return np.where(x > 0, 1.0, alpha * N.exp(np.minimum(x, 0)))


def sigmoid_slope(c, x, y):
    return N.through(lambda v: N.logistic(v) * N.logistic(-v))(x)


def silu_value(c, x):
    return N.through(lambda v: np.where(v < 0, v * N.logistic(v), v / (1 + np.exp(-np.maximum(v, 0)))))(x)


def silu_slope(c, x, y):
    return N.through(lambda v: N.logistic(v) * (1 + v * N.logistic(-v)))(x)


def relu_value(c, x):
    return np.where(x <= 0, np.zeros_like(x), x)


def leaky_slope(c, x, y):
    slope = c.a["slope"]
    return np.where(x > 0, 1.0, slope)


unary("sigmoid", lambda c, x: N.through(N.logistic)(x), sigmoid_slope)
unary("softplus", softplus_value, softplus_slope)
unary("relu", relu_value, lambda c, x, y: np.where(x <= 0, 0, np.ones_like(x)), exact=True)
unary("leaky_relu", lambda c, x: np.where(x > 0, x, c.a["slope"] * x), leaky_slope)
unary("elu", lambda c, x: np.where(x > 0, x, c.a["alpha"] * N.expm1(np.minimum(x, 0))), elu_slope)
unary("gelu", gelu_value, gelu_slope)
unary("silu", silu_value, silu_slope)


def sat_value(c, x):
    return np.where(x <= 0, np.zeros_like(x), np.where(x >= 1, np.ones_like(x), x))


unary("sat01", sat_value, lambda c, x, y: np.where((x <= 0) | (x >= 1), 0, np.ones_like(x)), exact=True)


def safe_log_value(c, x):
    if c.a["form"] == "maximum":
        return N.log(np.maximum(x, c.a["eps"]))
    return N.through(lambda v: np.log(N.softplus(v) + c.a["eps"]))(x)


def safe_log_slope(c, x, y):
    eps = c.a["eps"]
    if c.a["form"] == "maximum":
        return np.where(x > eps, x, np.where(x == eps, 2 * x, np.inf))
    return N.through(lambda v: (N.softplus(v) + eps) / N.logistic(v))(x)


unary("safe_log", safe_log_value, safe_log_slope, divides=True)
unary("smooth_abs", lambda c, x: np.sqrt(x * x + c.a["eps"]), 
      lambda c, x, y: (x, np.sqrt(x * x + c.a["eps"])), divides=True)


def power_value(c, x):
    p = c.a["p"]
    return N.power(x, np.asarray(p, x.dtype))


def power_slope(c, x, y):
    p = c.a["p"]
    if p == 0:
        return np.zeros_like(x), np.ones_like(x)
    if p == 0.5:
        return N.through(lambda v: 0.5 * np.power(v, -np.longdouble(0.5)))(x), np.ones_like(x)
    return p * N.power(x, np.asarray(p - 1, x.dtype)), np.ones_like(x)


unary("power", power_value, power_slope, saves="xy", divides=True)
unary("scale", lambda c, x: np.asarray(c.a["by"], x.dtype) * x, lambda c, x, y: np.full_like(x, c.a["by"]), saves="")


def clamp_value(c, x):
    low, high = c.a["low"], c.a["high"]
    z = np.where(x < low, low, x)
    return np.where(z > high, high, z)


def clamp_slope(c, x, y):
    low, high = c.a["low"], c.a["high"]
    return np.where((x < low) | (np.where(x < low, low, x) > high), 0, np.ones_like(x))


unary("clamp", clamp_value, clamp_slope, exact=True)
unary("clip_by_value", lambda c, x: np.where(x > c.a["limit"], c.a["limit"], np.where(x < -c.a["limit"], -c.a["limit"], x)),
      lambda c, x, y: np.where((x > c.a["limit"]) | (x < -c.a["limit"]), 0, np.ones_like(x)), exact=True)


def flat_slope(c, x, y):
    return np.zeros_like(x)


def rounded(f):
    return lambda c, x: f(x) if x.dtype.kind == "f" else x


def half_up(x):
    return np.where(np.abs(x - np.trunc(x)) == 0.5, np.trunc(x) + np.sign(x), np.round(x))


unary("floor", rounded(np.floor), flat_slope, saves="")
unary("ceil", rounded(np.ceil), flat_slope, saves="")
unary("trunc", rounded(np.trunc), flat_slope, saves="")
unary("round", rounded(half_up if planted("round_half_away") else np.round), flat_slope, saves="")
unary("isnan", lambda c, x: np.isnan(x), result=boolean)
unary("isinf", lambda c, x: np.isinf(x),
      result=boolean)
unary("isfinite", lambda c, x: np.isfinite(x), result=boolean)
unary("logical_not", lambda c, x: ~x, result=boolean)
unary("detach", lambda c, x: x, saves="")


def cast_value(c, x):
    to = c.a["dtype"]
    if to == "bool":
        return x != 0
    if to in INTS:
        if x.dtype.kind != "f":
            return x.astype(np.int64)
        info = np.iinfo(DTYPES[to])
        whole = np.trunc(np.where(np.isnan(x), 0, x))
        if planted("cast_saturates_late") and to == "i32":
            whole = np.clip(whole, -2.0 ** 63, 2.0 ** 62)
            return whole.astype(np.int64)
        top = np.asarray(info.max, np.longdouble)
        inside = (whole > info.min) & (whole.astype(np.longdouble) < top)
        return np.where(inside, np.where(inside, whole, 0).astype(np.int64), np.where(whole > 0, info.max, info.min))
    if x.dtype.kind == "i":
        if to == "f32":
            return x.astype(np.float32).astype(np.float64)
        return x.astype(np.float64)
    return x.astype(np.float64)


unary("cast", cast_value, lambda c, x, y: np.ones_like(x) if c.dtypes[0] in ("f32", "f64") else None,
      result=lambda c: c.a["dtype"], saves="")
