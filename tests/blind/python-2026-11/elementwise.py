"""Operations that work on each element; rows of several operands join by broadcasting."""
import math

import numpy as np

from core import ARRAYS, Rule, need, number, planted, real

erf = np.vectorize(math.erf, otypes=[np.float64])


def unary(f, slope):
    """A function of one number with its slope(a, x, y)."""
    return Rule(f, lambda a, x, y, dx: slope(a, x[0], y) * dx[0], lambda a, x, y, g: [slope(a, x[0], y) * g])


def quotient(f, divisor):
    """A function whose slope is 1 over divisor(x, y)."""
    return Rule(f, lambda a, x, y, dx: dx[0] / divisor(x[0], y), lambda a, x, y, g: [g / divisor(x[0], y)])


def chosen(f, pick):
    """A function whose derivative chooses: pick(a, x, d) is the tangent, or the cotangent, of d."""
    return Rule(f, lambda a, x, y, dx: pick(a, x[0], dx[0]), lambda a, x, y, g: [pick(a, x[0], g)])


def flat(f):
    """Piecewise constant: reals only, integers are their own image."""
    return Rule(lambda a, x: f(x) if real(x) else x, lambda a, x, y, dx: np.zeros_like(dx[0]),
                lambda a, x, y, g: [np.zeros_like(g)])


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def sigmoid_slope(x):
    e = np.exp(-np.abs(x))
    return e / ((1 + e) * (1 + e))


def silu(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, x * (e / (1 + e)), x / (1 + e))


def abs_slope(a, x, y):
    return np.where(x >= 0, 1.0, -1.0) if planted("abs_slope_at_zero") else np.sign(x)


def relu(a, x):
    return np.where(x <= 0, np.zeros_like(x), x)


def relu_pick(a, x, d):
    return np.where(x < 0 if planted("relu_slope_at_zero") else x <= 0, 0.0, d)


def sat01(a, x):
    return np.where(x <= 0, np.zeros_like(x), np.where(x >= 1, np.ones_like(x), x))


def sat01_pick(a, x, d):
    if planted("sat01_slope_at_ends"):
        return np.where((x < 0) | (x > 1), 0.0, d)
    return np.where((x <= 0) | (x >= 1), 0.0, d)


def clamp(a, x):
    low, high = number(a["low"]), number(a["high"])
    if planted("clamp_nan_lost"):
        return np.fmin(np.fmax(x, low), high)
    if planted("clamp_crossed"):
        return np.maximum(np.minimum(x, high), low)
    z = np.where(x < low, low, x)
    return np.where(z > high, high, z)


def clamp_pick(a, x, d):
    low, high = number(a["low"]), number(a["high"])
    if planted("clamp_slope_at_ends"):
        return np.where((x <= low) | (x >= high), 0.0, d)
    z = np.where(x < low, low, x)
    return np.where((x < low) | (z > high), 0.0, d)


def leaky(a, x):
    slope = number(a["slope"])
    return np.maximum(x, slope * x) if planted("leaky_relu_by_maximum") else np.where(x > 0, x, slope * x)


def elu_pick(a, x, d):
    alpha = number(a["alpha"])
    below = alpha * np.expm1(np.minimum(x, 0)) + 1 if planted("elu_slope_alpha") else alpha * np.exp(np.minimum(x, 0))
    return np.where(x > 0, d, d * np.where(np.isnan(x), x, below))


def softplus(a, x):
    beta = number(a["beta"])
    z = beta * x
    return np.where(z <= 0, np.log1p(np.exp(np.minimum(z, 0))), z + np.log1p(np.exp(-np.abs(z)))) / beta


def softplus_slope(a, x, y):
    beta = number(a["beta"])
    return sigmoid(beta * x) * beta / (1.0 if planted("softplus_beta_slope") else beta)


def gelu(a, x):
    if a["approximate"] == "none":
        return x * ((1 + erf(x / math.sqrt(2))) / 2)
    return x * ((1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2)


def gelu_slope(a, x, y):
    if a["approximate"] == "none":
        return (1 + erf(x / math.sqrt(2))) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x * x * x))
    inner = 1 + (1 if planted("gelu_cubic_factor") else 3) * 0.044715 * x * x
    return (1 + t) / 2 + x * ((1 - t * t) * c * inner / 2)


def power_slope(a, x, y):
    p = number(a["p"])
    return np.zeros_like(x) if p == 0 else p * np.power(x, p - 1)


def half_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def integer_of(x, info, wraps):
    """Towards 0, NaN as 0, beyond the type's integers their nearest end."""
    if wraps and info.bits == 32:
        return integer_of(x, np.iinfo(np.int64), False).astype(np.int32)
    whole = np.trunc(np.where(np.isnan(x), 0.0, x))
    low, high = float(info.min), float(info.max)
    inside = np.clip(whole, low, np.nextafter(high, 0) if info.bits == 64 else high).astype(f"i{info.bits // 8}")
    return np.where(whole >= high, info.max, np.where(whole <= low, info.min, inside)).astype(f"i{info.bits // 8}")


def cast(a, x):
    need(a["dtype"] in ARRAYS, "attribute", f"{a['dtype']} is not offered")
    to = np.dtype(ARRAYS[a["dtype"]])
    if to.kind == "b":
        return x != 0
    if to.kind == "f":
        if planted("cast_through_f64"):
            return x.astype(np.float64)
        return x.astype(to).astype(np.float64)
    if not real(x):
        return x.astype(to)
    found = integer_of(x, np.iinfo(to), planted("cast_wraps"))
    return np.where(np.isnan(x), np.iinfo(to).min, found).astype(to) if planted("cast_nan_least") else found


def unbroadcast(g, shape):
    """The sum over the axes along which an operand of that shape was repeated."""
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    g = np.sum(g, tuple(range(lead)))
    inner = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    if planted("unbroadcast_inner_mean") and lead and inner:
        return np.mean(g, inner, keepdims=True)
    if planted("unbroadcast_one_axis"):
        inner, rest = inner[:1], inner[1:]
        g = np.sum(g, inner, keepdims=True)
        return g[tuple(slice(0, 1) if i in rest else slice(None) for i in range(g.ndim))]
    return np.sum(g, inner, keepdims=True)


def whole(c, y):
    return c if np.shape(c) == np.shape(y) else np.broadcast_to(c, np.shape(y))


def binary(f, tangent, cotangent):
    """tangent(a, x, y, da, db) with None for what does not move; cotangent(a, x, y, g) before the sums of broadcasting."""
    def vjp(a, x, y, g):
        return [None if c is None or not real(v) else unbroadcast(whole(c, y), v.shape)
                for v, c in zip(x, cotangent(a, x, y, g))]

    def jvp(a, x, y, dx):
        total = None
        for term in tangent(a, x, y, *dx):
            if term is not None:
                total = term if total is None else total + term
        return None if total is None else np.array(np.broadcast_to(total, np.shape(y)))
    return Rule(f, jvp, vjp)


def by_slopes(f, slopes):
    """A rule of two operands from the two partial derivatives slopes(a, x, y)."""
    def tangent(a, x, y, *dx):
        return [None if d is None else s * d for s, d in zip(slopes(a, x, y), dx)]
    return binary(f, tangent, lambda a, x, y, g: [s * g for s in slopes(a, x, y)])


def pow_slopes(a, x, y):
    p, q = np.broadcast_arrays(*x)
    base = q * np.power(p, q - 1)
    return (base if planted("pow_zero_exponent") else np.where(q != 0, base, 0.0),
            np.where((p != 0) | (q < 0), y * np.log(p), 0.0))


def extremum(f, above):
    def shares(x):
        p, q = x
        if planted("maximum_tie_first"):
            return 1.0 * ~above(q, p), 1.0 * above(q, p)
        tie = 0.5 * (p == q)
        return above(p, q) + tie, above(q, p) + tie

    def moved(a, x, y, *dx):
        return [None if d is None else np.where(s > 0, s * d, 0.0) for s, d in zip(shares(x), dx)]
    return binary(f, moved, lambda a, x, y, g: moved(a, x, y, g, g))


def floor_divide(a, x, y):
    if not real(x):
        if planted("floor_divide_i64_by_f64") and x.dtype == np.int64:
            return np.where(y == 0, 0, np.floor(x / np.where(y == 0, 1, y).astype(float))).astype(np.int64)
        if planted("floor_divide_truncates"):
            q = np.floor_divide(x, y)
            return q + ((q * y != x) & ((x < 0) != (y < 0)) & (y != 0)).astype(x.dtype)
        return np.floor_divide(x, y)
    plain = np.isfinite(x) & np.isfinite(y) & (y != 0)
    return np.where(plain, np.floor_divide(x, y), np.floor(x / y))


def remainder(a, x, y):
    if planted("remainder_sign"):
        return np.fmod(x, y)
    if planted("remainder_by_quotient") and real(x):
        return x - np.floor(x / y) * y
    return np.remainder(x, y)


def remainder_slopes(a, x, y):
    return np.ones_like(y), -floor_divide(a, *np.broadcast_arrays(*x))


def where(a, c, x, y):
    if planted("where_by_product") and real(x):
        return c * x + (1 - c) * y
    return np.where(c, x, y)


def where_parts(a, x, y, g):
    return [None, np.where(x[0], g, 0.0), np.where(x[0], 0.0, g)]


def where_tangent(a, x, y, dc, da, db):
    return [None if da is None else np.where(x[0], da, 0.0), None if db is None else np.where(x[0], 0.0, db)]


def atan2(a, x, y):
    if planted("atan2_negative_zero"):
        return np.arctan2(x + 0.0, y)
    return np.arctan2(x, y)


def atan2_slopes(a, x, y):
    p, q = x
    r = p * p + q * q
    return q / r, -(p / r)


def compared(f, name):
    def function(a, x, y):
        if planted("eq_integers_by_f64") and name == "eq" and x.dtype.kind == "i":
            x, y = x.astype(float), y.astype(float)
        return f(x, y)
    return Rule(function)


def plus(a, x, y):
    return x + y


def each(*both):
    return lambda a, x, y: both


LN2 = math.log(2)
RULES = {
    "neg": unary(lambda a, x: 0 - x if planted("neg_zero") else -x, lambda a, x, y: -1.0),
    "abs": unary(lambda a, x: np.abs(x), abs_slope),
    "sign": flat(np.sign),
    "square": unary(lambda a, x: x * x, lambda a, x, y: 2 * x),
    "sqrt": quotient(lambda a, x: np.sqrt(x), lambda x, y: 2 * y),
    "rsqrt": unary(lambda a, x: 1 / np.sqrt(x), lambda a, x, y: -(1 / np.sqrt(x) / np.sqrt(x)) / (2 * np.sqrt(x))),
    "reciprocal": unary(lambda a, x: 1 / x, lambda a, x, y: -(1 / x) / x),
    "exp": unary(lambda a, x: np.exp(x), lambda a, x, y: y),
    "exp2": unary(lambda a, x: np.exp2(x), lambda a, x, y: y * LN2),
    "expm1": unary(lambda a, x: np.expm1(x), lambda a, x, y: np.exp(x)),
    "log": quotient(lambda a, x: np.log(x), lambda x, y: x),
    "log2": quotient(lambda a, x: np.log2(x), lambda x, y: x * LN2),
    "log1p": quotient(lambda a, x: np.log(1 + x) if planted("log1p_small") else np.log1p(x), lambda x, y: 1 + x),
    "sin": unary(lambda a, x: np.sin(x), lambda a, x, y: np.cos(x)),
    "cos": unary(lambda a, x: np.cos(x), lambda a, x, y: -np.sin(x)),
    "tan": unary(lambda a, x: np.tan(x), lambda a, x, y: 1 + y * y),
    "sinh": unary(lambda a, x: (np.exp(x) - np.exp(-x)) / 2 if planted("sinh_cancels") else np.sinh(x),
                  lambda a, x, y: np.cosh(x)),
    "cosh": unary(lambda a, x: np.cosh(x), lambda a, x, y: np.sinh(x)),
    "tanh": unary(lambda a, x: np.tanh(x), lambda a, x, y: 1 - y * y),
    "erf": unary(lambda a, x: erf(x), lambda a, x, y: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "sigmoid": unary(lambda a, x: sigmoid(x), lambda a, x, y: sigmoid_slope(x)),
    "silu": unary(lambda a, x: silu(x), lambda a, x, y: sigmoid(x) + x * sigmoid_slope(x)),
    "softplus": unary(softplus, softplus_slope),
    "gelu": unary(gelu, gelu_slope),
    "scale": unary(lambda a, x: number(a["by"]) * x, lambda a, x, y: number(a["by"])),
    "power": unary(lambda a, x: np.power(x, number(a["p"])), power_slope),
    "relu": chosen(relu, relu_pick),
    "sat01": chosen(sat01, sat01_pick),
    "clamp": chosen(clamp, clamp_pick),
    "leaky_relu": chosen(leaky, lambda a, x, d: np.where(x > 0, d, number(a["slope"]) * d)),
    "elu": chosen(lambda a, x: np.where(x > 0, x, number(a["alpha"]) * np.expm1(x)), elu_pick),
    "floor": flat(np.floor), "ceil": flat(np.ceil), "trunc": flat(np.trunc),
    "round": flat(lambda x: half_away(x) if planted("round_half_away") else np.rint(x)),
    "isnan": Rule(lambda a, x: np.isnan(x)), "isinf": Rule(lambda a, x: np.isinf(x)),
    "isfinite": Rule(lambda a, x: np.isfinite(x)), "logical_not": Rule(lambda a, x: ~x),
    "detach": Rule(lambda a, x: x),
    "cast": Rule(cast, lambda a, x, y, dx: dx[0] if real(y) else None,
                 lambda a, x, y, g: [g if real(x[0]) and real(y) else None]),
    "add": binary(plus, lambda a, x, y, da, db: (da, db), lambda a, x, y, g: (g, g)),
    "sub": binary(lambda a, x, y: x - y, lambda a, x, y, da, db: (da, None if db is None else -db),
                  lambda a, x, y, g: (g, -g)),
    "mul": by_slopes(lambda a, x, y: x * y, lambda a, x, y: (x[1], x[0])),
    "div": binary(lambda a, x, y: x / y,
                  lambda a, x, y, da, db: (None if da is None else da / x[1], None if db is None else -(y / x[1] * db)),
                  lambda a, x, y, g: (g / x[1], -(g * (y / x[1])))),
    "pow": by_slopes(lambda a, x, y: np.power(x, y), pow_slopes),
    "maximum": extremum(lambda a, x, y: np.maximum(x, y), np.greater),
    "minimum": extremum(lambda a, x, y: np.minimum(x, y), np.less),
    "atan2": by_slopes(atan2, atan2_slopes),
    "floor_divide": by_slopes(floor_divide, each(0.0, 0.0)),
    "remainder": by_slopes(remainder, remainder_slopes),
    "where": binary(where, where_tangent, where_parts),
    "fma": binary(lambda a, x, y, z: x * y + z,
                  lambda a, x, y, da, db, dc: (None if da is None else da * x[1], None if db is None else x[0] * db, dc),
                  lambda a, x, y, g: (g * x[1], g * x[0], g)),
    **{name: compared(f, name) for name, f in {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}.items()},
}
