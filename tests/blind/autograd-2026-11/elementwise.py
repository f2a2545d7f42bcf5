"""Functions of each element, comparisons, and operations of two that broadcast."""
import math

import numpy as np

from core import ARRAYS, WIDE, State, binary, cached, choose, constant, fresh, planted, record, unary
from wide import over, times

PI = 4 * np.arctan(WIDE(1))


def whole(f):
    return lambda a, x: fresh(f(x.array), x.dtype) if x.real else fresh(x.array, x.dtype)


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(np.asarray(x, float)).astype(WIDE) if x.size else x


def erfc(x):
    return np.vectorize(math.erfc, otypes=[float])(np.asarray(x, float)).astype(WIDE) if x.size else x


def sigmoid_of(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def softplus_of(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def absolute(a, x):
    return unary(x, np.abs, lambda v, y: np.where(v >= 0, WIDE(1), WIDE(-1)) if planted("abs_slope_one_at_zero") else np.sign(v))


def sign(a, x):
    f = (lambda v: np.where(v > 0, 1, np.where(v < 0, -1, 0)).astype(v.dtype)) if planted("sign_drops_nan") else np.sign
    return fresh(f(x.array), x.dtype)


def square(a, x):
    if planted("square_i64_by_power") and x.dtype == "i64":
        return fresh(np.power(x.array.astype(np.float64), 2).astype(np.int64), x.dtype)
    return unary(x, lambda v: times(v, v), lambda v, y: 2 * v)


def relu(a, x):
    if planted("relu_by_maximum_of_nan"):
        return unary(x, lambda v: np.where(v > 0, v, v.dtype.type(0)), lambda v, y: np.where(v > 0, WIDE(1), WIDE(0)))
    edge = (lambda v: v >= 0) if planted("relu_slope_at_kink") or planted("relu_tangent_at_kink") and State.mode == "jvp" \
        else (lambda v: ~(v <= 0))
    return unary(x, lambda v: np.where(v <= 0, v.dtype.type(0), v), lambda v, y: np.where(edge(v), WIDE(1), WIDE(0)))


def sat01(a, x):
    one = x.array.dtype.type(1)
    return unary(x, lambda v: np.where(v <= 0, one * 0, np.where(v >= 1, one, v)),
                 lambda v, y: np.where((v <= 0) | (v >= 1), WIDE(0), WIDE(1)))


def leaky_relu(a, x):
    key = ("leaky",) if planted("leaky_kernel_without_slope") else ("leaky", a["slope"])

    def kernel():
        k = WIDE(a["slope"])
        if planted("leaky_slope_by_result"):
            return (lambda v: np.where(v > 0, v, k * v)), (lambda v, y: np.where(y > 0, WIDE(1), k))
        return (lambda v: np.where(v > 0, v, k * v)), (lambda v, y: np.where(v > 0, WIDE(1), k))

    return unary(x, *cached(key, kernel))


def elu(a, x):
    k = WIDE(a["alpha"])
    slope = (lambda v, y: np.where(v > 0, WIDE(1), y + 1)) if planted("elu_slope_without_alpha") \
        else (lambda v, y: np.where(v > 0, WIDE(1), k * np.exp(v)))
    return unary(x, lambda v: np.where(v > 0, v, k * np.expm1(v)), slope)


def gelu(a, x):
    if a["approximate"] == "tanh":
        c, d = np.sqrt(2 / PI), WIDE("0.044715")

        def slope(v, y):
            t = np.tanh(c * (v + d * v ** 3))
            return (1 + t) / 2 + v / 2 * (1 - t * t) * c * (1 + (d if planted("gelu_cube_without_three") else 3 * d) * v * v)

        return unary(x, lambda v: v * ((1 + np.tanh(c * (v + d * v ** 3))) / 2), slope)
    half = np.sqrt(WIDE(0.5))
    return unary(x, lambda v: v * (erfc(-v * half) / 2),
                 lambda v, y: erfc(-v * half) / 2 + v * np.exp(-v * v / 2) / np.sqrt(2 * PI))


def silu(a, x):
    return unary(x, lambda v: v * sigmoid_of(v), lambda v, y: sigmoid_of(v) * (1 + v * (1 - sigmoid_of(v))))


def sigmoid(a, x):
    if planted("sigmoid_saturates"):
        return unary(x, lambda v: np.where(v < -30, WIDE(0), sigmoid_of(v)), lambda v, y: y * (1 - y))
    return unary(x, sigmoid_of, lambda v, y: sigmoid_of(v) * sigmoid_of(-v))


def softplus(a, x):
    b = WIDE(a["beta"])
    if planted("softplus_threshold"):
        return unary(x, lambda v: np.where(b * v > 20, v, softplus_of(b * v) / b), lambda v, y: sigmoid_of(b * v))
    if planted("softplus_threshold_before_beta"):
        return unary(x, lambda v: np.where(v > 20, v, softplus_of(b * v) / b), lambda v, y: np.where(v > 20, WIDE(1), sigmoid_of(b * v)))
    return unary(x, lambda v: softplus_of(b * v) / b, lambda v, y: sigmoid_of(b * v))


def safe_log(a, x):
    eps = WIDE(a["eps"])
    if a["form"] == "softplus":
        return unary(x, lambda v: np.log(softplus_of(v) + eps), lambda v, y: sigmoid_of(v) / (softplus_of(v) + eps))
    at_tie = WIDE(1 if planted("safe_log_tie_whole") else 0.5)
    return unary(x, lambda v: np.log(np.maximum(v, eps)),
                 lambda v, y: np.where(v > eps, 1 / v, np.where(v == eps, at_tie / eps, WIDE(0))))


def smooth_abs(a, x):
    eps = WIDE(a["eps"])
    return unary(x, lambda v: np.sqrt(v * v + eps), lambda v, y: v / y)


def scale(a, x):
    k = WIDE(a["by"])
    return unary(x, lambda v: times(v, k), lambda v, y: np.full_like(v, k))


def clamp(a, x):
    low, high = WIDE(a["low"]), WIDE(a["high"])
    f = lambda v: np.where(np.where(v < low, low, v) > high, high, np.where(v < low, low, v))
    if planted("clamp_slope_by_change"):
        return unary(x, f, lambda v, y: np.where((v > low) & (v < high), WIDE(1), WIDE(0)))
    return unary(x, f, lambda v, y: np.where((v < low) | (np.where(v < low, low, v) > high), WIDE(0), WIDE(1)))


def power(a, x):
    p = WIDE(a["p"])
    if planted("power_nan_at_zero_exponent") and p == 0:
        return unary(x, lambda v: v * 0 + 1, lambda v, y: v * 0)
    if planted("power_by_log") and p != np.rint(p):
        return unary(x, lambda v: np.exp(p * np.log(np.abs(v))), lambda v, y: p * np.power(v, p - 1))
    if planted("power_slope_by_quotient"):
        return unary(x, lambda v: np.power(v, p), lambda v, y: p * y / v)
    return unary(x, lambda v: np.power(v, p), lambda v, y: np.zeros_like(v) if p == 0 else p * np.power(v, p - 1))


def rounding(a, x):
    if planted("round_half_away") and x.real:
        return fresh(np.sign(x.array) * np.floor(np.abs(x.array) + 0.5), x.dtype)
    return whole(np.rint)(a, x)


def detach(a, x):
    return x if planted("detach_is_identity") else constant(x)


def cast(a, x):
    v, to = x.array, a["dtype"]
    if x.real and to in ("f32", "f64"):
        y = v.astype(ARRAYS[to]).astype(WIDE)
        if planted("cast_pull_rounds_twice") and x.dtype == "f64" and to == "f32":
            return record(y, to, (x, lambda t: t, lambda g: np.where(np.abs(y - v) > 0, WIDE(0), g)))
        return record(y, to, (x, lambda t: t, lambda g: g))
    if to == "bool":
        return fresh(v.astype(np.int64) != 0 if planted("cast_bool_by_integer") and x.real else v != 0, to)
    if x.real:
        low, high = np.iinfo(ARRAYS[to]).min, np.iinfo(ARRAYS[to]).max
        v = np.trunc(v)
        inside = (v >= WIDE(low)) & (v <= WIDE(high))
        if planted("cast_i32_by_i64") and to == "i32":
            wide = np.where(np.isfinite(v) & (np.abs(v) < 2.0 ** 62), v, WIDE(0)).astype(np.int64)
            return fresh(wide.astype(np.int32), to)
        y = np.where(inside, v, WIDE(0)).astype(ARRAYS[to])
        return fresh(np.where(v > WIDE(high), high, np.where(v < WIDE(low), low, y)), to)
    if to in ("f32", "f64"):
        v = v.astype(np.float32 if planted("cast_i64_by_f32") and x.dtype == "i64" else WIDE)
        return fresh(v.astype(ARRAYS[to]), to)
    return fresh(v.astype(ARRAYS[to]), to)


UNARY = {
    "exp": (np.exp, lambda v, y: y), "exp2": (np.exp2, lambda v, y: y * np.log(WIDE(2))),
    "expm1": (lambda v: np.exp(v) - 1 if planted("expm1_by_exp") else np.expm1(v), lambda v, y: y if planted("expm1_tangent") else y + 1),
    "log": (np.log, lambda v, y: 1 / v),
    "log2": (np.log2, lambda v, y: 1 / v if planted("log2_slope_of_log") else 1 / (v * np.log(WIDE(2)))),
    "log1p": (np.log1p, lambda v, y: 1 / (1 + v)), "sin": (np.sin, lambda v, y: np.cos(v)), "cos": (np.cos, lambda v, y: -np.sin(v)),
    "tan": (np.tan, lambda v, y: 1 / np.cos(v) ** 2), "sinh": (np.sinh, lambda v, y: np.cosh(v)),
    "cosh": (np.cosh, lambda v, y: np.sinh(v)),
    "tanh": (lambda v: np.where(np.abs(v) > 9, np.sign(v), np.tanh(v)) if planted("tanh_clamped_at_nine") else np.tanh(v),
             lambda v, y: 1 / np.cosh(v) ** 2),
    "sqrt": (np.sqrt, lambda v, y: 0.5 / y), "rsqrt": (lambda v: 1 / np.sqrt(v), lambda v, y: -0.5 * y * y * y),
    "reciprocal": (lambda v: 1 / v, lambda v, y: -(y * y)),
    "erf": (erf, lambda v, y: 2 / np.sqrt(PI) * np.exp(-v * v)),
    "neg": (np.negative, lambda v, y: np.full_like(v, -1))}


def plain(f, slope):
    return lambda a, x: unary(x, f, slope)


def tie(side):
    """maximum and minimum: at a tie each side has half."""
    half = WIDE(0.5)

    def first(x, z, y):
        at = WIDE(1) if planted("maximum_tie_first") else half
        return np.where(side(x, z), WIDE(1), np.where(x == z, at, WIDE(0)))

    def second(x, z, y):
        at = WIDE(0) if planted("maximum_tie_first") or planted("maximum_tangent_tie") and State.mode == "jvp" else half
        return np.where(side(z, x), WIDE(1), np.where(x == z, at, WIDE(0)))

    return first, second


def integer_safe(f):
    """0 where an integer divisor is 0; the least integer by -1 wraps."""
    return lambda x, z: np.where(z == 0, 0, f(x, np.where(z == 0, 1, z)))


def floor_quotient(x, z):
    q = x / z
    m = np.fmod(x, z)
    exact = np.rint((x - m) / z) - ((m != 0) & ((m < 0) != (z < 0)))
    return np.where(np.isfinite(q) & np.isfinite(z), exact, np.floor(q))


def floor_divide(a, x, z):
    if x.real:
        if planted("floor_divide_python_infinity"):
            return fresh(np.floor_divide(x.array, z.array), x.dtype)
        return fresh(floor_quotient(x.array, z.array), x.dtype)
    if planted("floor_divide_truncates_i64"):
        f = lambda p, q: (np.sign(p) * np.sign(q)) * (np.abs(p) // np.abs(q))
    else:
        f = np.floor_divide
    return fresh(integer_safe(f)(x.array, z.array), x.dtype)


def remainder(a, x, z):
    if not x.real:
        f = np.fmod if planted("remainder_i64_sign_of_dividend") else np.remainder
        return fresh(integer_safe(f)(x.array, z.array), x.dtype)

    def value(p, q):
        m = np.fmod(p, q)
        if planted("remainder_by_floor"):
            p, q = p.astype(float), q.astype(float)
            return (p - np.floor(p / q) * q).astype(WIDE)
        return np.where((m != 0) & ((m < 0) != (q < 0)), m + q, np.where(m == 0, np.copysign(m, q), m))

    return binary(value, x, z, lambda p, q, y: WIDE(1), lambda p, q, y: -floor_quotient(p, q))


def pow_slopes():
    def base(x, z, y):
        return np.where(z != 0, z * np.power(x, z - 1), WIDE(0))

    def exponent(x, z, y):
        if planted("pow_log_of_zero"):
            return y * np.log(x)
        live = (x != 0) | (z < 0)
        return np.where(live, y * np.log(np.where(live, x, WIDE(1))), WIDE(0))

    return base, exponent


def atan2_slopes():
    sign = 1 if planted("atan2_slope_sign") else -1
    return (lambda x, z, y: z / (x * x + z * z)), (lambda x, z, y: sign * x / (x * x + z * z))


def multiply(a, x, z):
    if planted("mul_i64_by_f64") and x.dtype == "i64":
        return fresh((x.array.astype(float) * z.array.astype(float)).astype(np.int64), x.dtype)
    if planted("mul_same_operand_once") and x is z:
        z = constant(z)
    return binary(times, x, z, lambda p, q, y: q, lambda p, q, y: p)


def where(a, c, x, z):
    return choose(c.array, x, z)


def fma(a, x, z, w):
    return multiply(a, x, z) + w


def compared(f):
    def rule(a, x, z):
        p, q = x.array, z.array
        if planted("compare_i64_by_f64") and x.dtype == "i64":
            p, q = p.astype(float), q.astype(float)
        return fresh(f(p, q), "bool")
    return rule


def tested(f, integers):
    return lambda a, x: fresh(f(x.array) if x.real else np.full(x.shape, integers), "bool")


RULES = {name: plain(*pair) for name, pair in UNARY.items()}
RULES.update({
    "abs": absolute, "sign": sign, "square": square, "relu": relu, "sat01": sat01, "leaky_relu": leaky_relu, "elu": elu,
    "gelu": gelu, "silu": silu, "sigmoid": sigmoid, "softplus": softplus, "safe_log": safe_log, "smooth_abs": smooth_abs,
    "scale": scale, "clamp": clamp, "power": power, "round": rounding, "floor": whole(np.floor), "ceil": whole(np.ceil),
    "trunc": whole(np.trunc), "detach": detach, "cast": cast,
    "isnan": tested(np.isnan, False), "isinf": tested(np.isinf, False), "isfinite": tested(np.isfinite, True),
    "add": lambda a, x, z: x + z, "sub": lambda a, x, z: x - z, "mul": multiply,
    "div": lambda a, x, z: binary(over, x, z, lambda p, q, y: 1 / q, lambda p, q, y: -y / q),
    "pow": lambda a, x, z: binary(np.power, x, z, *pow_slopes()),
    "maximum": lambda a, x, z: binary(np.maximum, x, z, *tie(np.greater)),
    "minimum": lambda a, x, z: binary(np.minimum, x, z, *tie(np.less)),
    "atan2": lambda a, x, z: binary(np.arctan2, x, z, *atan2_slopes()),
    "floor_divide": floor_divide, "remainder": remainder, "where": where, "fma": fma,
    "logical_not": lambda a, x: fresh(~x.array, "bool"), "eq": compared(np.equal), "ne": compared(np.not_equal),
    "lt": compared(np.less), "le": compared(np.less_equal), "gt": compared(np.greater), "ge": compared(np.greater_equal),
    "logical_and": compared(np.logical_and), "logical_or": compared(np.logical_or), "logical_xor": compared(np.logical_xor)})
