"""Kernels of one element at a time, with their derivatives."""
import math

import numpy as np

from .registry import register
from .switch import on
from .tape import detach, elementwise, fit, lift, node, ops


def where(c, a, b):
    """a where c, b elsewhere; what is not chosen counts nowhere."""
    if not hasattr(a, "needs"):
        a = lift(a, b)
    b = lift(b, a)
    if on("where_by_products") and a.a.dtype.kind == "f":
        y = c * a.a + (1 - c) * b.a
    else:
        y = np.where(c, a.a, b.a)
    return node(y, (a, lambda g: fit(np.where(c, g, 0), a.shape), lambda d: np.where(c, d, 0)),
                (b, lambda g: fit(np.where(c, 0, g), b.shape), lambda d: np.where(c, 0, d)))


def unary(f, factor):
    """The kernel of a function of one number; factor(x, y) is its derivative."""
    def kernel(x):
        x = lift(x)
        y = np.asarray(f(x.a))
        return elementwise(y, (x, lambda: factor(x.a, y)))
    return kernel


def flat(f):
    """The kernel of a function whose slope is 0 everywhere: nothing passes, not even what is infinite."""
    return lambda x: detach(lift(np.asarray(f(lift(x).a))))


def chosen(y, x, passes):
    """A function that is its operand where `passes` and a constant elsewhere."""
    return node(y, (x, lambda g: np.where(passes, g, 0), lambda d: np.where(passes, d, 0)))


def erf_of(x):
    if x.dtype != np.longdouble:
        return np.vectorize(math.erf, otypes=[float])(x) if x.size else x
    near = np.where(np.abs(x) < 7, x, np.longdouble(0))
    term = near * np.exp(-near * near)
    total, n = np.zeros_like(term), 0
    while n < 400 and np.any(np.abs(term) > np.abs(total) * 1e-22):
        total = total + term
        term = term * (2 * near * near / (2 * n + 3))
        n += 1
    y = 2 * total / np.sqrt(np.longdouble(PI))
    return np.where(x == 0, x, np.where(np.abs(x) < 7, y, np.sign(x)))


PI = np.longdouble(4) * np.arctan(np.longdouble(1))
LN2 = np.log(np.longdouble(2))


def _whole(f):
    return lambda x: x if x.dtype.kind != "f" else f(x)


def _sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e / (1 + e), 1 / (1 + e))


def _bell(x):
    """The derivative of the sigmoid."""
    e = np.exp(-np.abs(x))
    return e / ((1 + e) * (1 + e))


def _relu(x):
    if on("relu_by_fmax") and x.dtype.kind == "f":
        return np.fmax(x, 0)
    return np.where(x <= 0, 0, x).astype(x.dtype)


neg = unary(np.negative, lambda x, y: np.asarray(-1, x.dtype))
exp = unary(np.exp, lambda x, y: y)
log = unary(np.log, lambda x, y: 1 / x)
log1p = unary(np.log1p, lambda x, y: 1 / (1 + x))
expm1 = unary(lambda x: np.exp(x) - 1 if on("expm1_by_exp") else np.expm1(x), lambda x, y: np.exp(x))
sqrt = unary(np.sqrt, lambda x, y: 0.5 / y)
tanh = unary(np.tanh, lambda x, y: _bell(2 * x) * 4)
sigmoid = unary(_sigmoid, lambda x, y: _bell(x))
absolute = unary(np.abs, lambda x, y: np.sign(x))
sin = unary(np.sin, lambda x, y: np.cos(x))
cos = unary(np.cos, lambda x, y: -np.sin(x))
square = unary(lambda x: x * x, lambda x, y: 2 * x)
erf = unary(erf_of, lambda x, y: np.exp(-x * x) if on("erf_slope_unscaled") else
            2 / np.sqrt(PI.astype(x.dtype)) * np.exp(-x * x))
sign = flat(np.sign)


def relu(x):
    return chosen(_relu(x.a), x, ~(x.a <= 0))


for name, kernel in {
    "neg": neg, "abs": absolute, "sign": sign, "square": square, "sqrt": sqrt, "exp": exp, "expm1": expm1, "log": log,
    "log1p": log1p, "sin": sin, "cos": cos, "tanh": tanh, "sigmoid": sigmoid, "erf": erf, "relu": relu,
    "rsqrt": unary(lambda x: 1 / np.sqrt(x), lambda x, y: -0.5 * y * y * y),
    "reciprocal": unary(lambda x: 1 / x, lambda x, y: -y * y),
    "exp2": unary(np.exp2, lambda x, y: y if on("exp2_slope_natural") else y * LN2.astype(x.dtype)),
    "log2": unary(np.log2, lambda x, y: 1 / (x * LN2.astype(x.dtype))),
    "tan": unary(np.tan, lambda x, y: 1 + x * x if on("tan_slope_of_operand") else 1 / (np.cos(x) * np.cos(x))),
    "sinh": unary(np.sinh, lambda x, y: np.cosh(x)), "cosh": unary(np.cosh, lambda x, y: np.sinh(x)),
    "floor": flat(_whole(np.floor)),
    "ceil": flat(_whole(np.ceil)),
    "trunc": flat(_whole(np.trunc)),
    "round": flat(_whole(np.rint)),
}.items():
    register(name)(lambda c, x, k=kernel: k(x))


@register("sat01")
def sat01(c, x):
    y = np.where(x.a <= 0, 0, np.where(x.a >= 1, 1, x.a)).astype(x.a.dtype)
    return chosen(y, x, ~((x.a <= 0) | (x.a >= 1)))


@register("leaky_relu")
def leaky_relu(c, x):
    up = x.a > 0
    return elementwise(np.where(up, x.a, c.slope * x.a), (x, lambda: np.where(up, 1, c.slope)))


@register("elu")
def elu(c, x):
    down = np.where(x.a > 0, 0, x.a)

    def factor():
        slope = c.alpha * np.exp(down)
        if on("elu_slope_without_alpha"):
            slope = c.alpha * np.expm1(down) + 1
        return np.where(x.a > 0, 1, slope)
    return elementwise(np.where(x.a > 0, x.a, c.alpha * np.expm1(down)), (x, factor))


def pick(x, take, f, rest):
    """f where `take` holds, `rest` elsewhere, each computed on its own elements only."""
    inside = where(take, x, 0.0)
    return where(take, f(inside), rest(where(take, 0.0, x)))


@register("softplus")
def softplus(c, x):
    z = x * c.beta
    y = pick(z, z.a <= 0, lambda u: log1p(exp(u)), lambda u: u + log1p(exp(-u))) / c.beta
    return where(x.a > 20, x, y) if on("softplus_threshold_unscaled") else y


@register("silu")
def silu(c, x):
    s = _sigmoid(x.a)
    return elementwise(x.a * s, (x, lambda: s * (1 + x.a * (1 - s))))


@register("gelu")
def gelu(c, x):
    if c.approximate == "tanh" or on("gelu_always_tanh"):
        root = np.sqrt(2 / PI).astype(x.a.dtype)
        return x * ((tanh(root * (x + 0.044715 * x * x * x)) + 1) / 2)
    return x * ((erf(x / np.sqrt(np.asarray(2, x.a.dtype))) + 1) / 2)


@register("safe_log")
def safe_log(c, x):
    if c.form == "maximum":
        return log(maximum(x, lift(c.eps, x)))
    return log(pick(x, x.a <= 0, lambda u: log1p(exp(u)), lambda u: u + log1p(exp(-u))) + c.eps)


@register("smooth_abs")
def smooth_abs(c, x):
    return sqrt(x * x + c.eps)


register("detach")(lambda c, x: x if on("detach_lets_tangents") and x.dot is not None else detach(x))
register("isnan", result="bool")(lambda c, x: detach(lift(np.isnan(x.a))))
register("isinf", result="bool")(lambda c, x: detach(lift(np.isinf(x.a))))
register("isfinite", result="bool")(lambda c, x: detach(lift(np.isfinite(x.a))))
register("logical_not", result="bool")(lambda c, x: lift(~x.a))


@register("cast", result="dtype")
def cast(c, x):
    if c.dtype == "bool" and x.a.dtype.kind == "f":
        return lift(x.a != 0)
    return node(x.a, (x, lambda g: g, lambda d: d)) if c.dtype in ("f32", "f64") else detach(x)


def _binary(f, a, b, da, db):
    y = f(a.a, b.a)
    return elementwise(y, (a, da), (b, db))


def both(f):
    """A kernel of two numbers, where either may be plain."""
    def kernel(a, b):
        a = lift(a, b) if not hasattr(a, "needs") else a
        return f(a, lift(b, a))
    return kernel


def _sub(a, b):
    alone = a.dot is None and b.dot is not None
    return _binary(np.subtract, a, b, lambda: 1, lambda: 1 if on("sub_tangent_of_second") and alone else -1)


add = both(lambda a, b: _binary(np.add, a, b, lambda: 1, lambda: 1))
sub = both(_sub)
mul = both(lambda a, b: _binary(np.multiply, a, b, lambda: b.a, lambda: a.a))
div = both(lambda a, b: _binary(np.divide, a, b, lambda: 1 / b.a,
                                lambda: -(a.a if on("div_slope_of_divisor") else a.a / b.a) / b.a))
ops.update(add=add, sub=sub, mul=mul, div=div, neg=neg)


def _extremum(f, ahead):
    def kernel(a, b):
        y = f(a.a, b.a)

        def share(p, q):
            wins, ties = ahead(p.a, q.a), p.a == q.a
            scaled = lambda d: np.where(wins, d, np.where(ties, d * 0.5, 0))
            return p, lambda g: fit(scaled(g), p.shape), scaled
        return node(y, share(a, b), share(b, a))
    return both(kernel)


maximum = _extremum(np.maximum, np.greater)
minimum = _extremum(np.minimum, np.less)


def _pow(a, b):
    y = np.power(a.a, b.a)
    return elementwise(y, (a, lambda: np.where(b.a == 0, 0, b.a * np.power(a.a, b.a - 1))),
                       (b, lambda: np.where((a.a == 0) & (b.a >= 0), 0, y * np.log(a.a))))


def _atan2(a, b):
    r = a.a * a.a + b.a * b.a
    y = np.arctan(a.a / b.a) if on("atan2_one_quotient") else np.arctan2(a.a, b.a)
    return elementwise(y, (a, lambda: b.a / r), (b, lambda: -a.a / r))


def _fmod(a, b):
    r = np.fmod(a, b)
    r = np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)
    return np.where(r == 0, np.copysign(0.0, b), r).astype(a.dtype)


def _remainder(a, b):
    if a.a.dtype.kind == "i":
        y = np.where(b.a == 0, 0, (np.fmod if on("remainder_of_c") else np.remainder)(a.a, np.where(b.a == 0, 1, b.a)))
        return lift(y)
    return elementwise(_fmod(a.a, b.a), (a, lambda: 1), (b, lambda: -np.floor(a.a / b.a)))


def _floor_divide(a, b):
    if a.a.dtype.kind == "i":
        q = a.a // np.where(b.a == 0, 1, b.a)
        return lift(np.where(b.a == 0, 0, q))
    return lift(np.floor(a.a / b.a))


for name, kernel in {"add": add, "sub": sub, "mul": mul, "div": div, "maximum": maximum, "minimum": minimum,
                     "pow": _pow, "atan2": _atan2, "remainder": _remainder, "floor_divide": _floor_divide}.items():
    register(name)(lambda c, a, b, k=kernel: k(a, b))


@register("power")
def power(c, x):
    p = c.p
    small = float(p).is_integer() and -4 < p < 4
    y = np.power(x.a, np.asarray(abs(p) if small and on("power_drops_minus") else p, x.a.dtype))

    if p == 0:
        return detach(lift(y))
    return elementwise(y, (x, lambda: p * (1 / np.sqrt(x.a) if p == 0.5 else
                                           np.power(x.a, np.asarray(p, x.a.dtype) - 1))))


register("scale")(lambda c, x: x * c.by)
register("fma")(lambda c, a, b, d: a * b + d)


@register("clamp")
def clamp(c, x):
    y = np.where(x.a < c.low, c.low, x.a)
    y = np.where(y > c.high, c.high, y)
    if on("clamp_slope_at_ends"):
        return chosen(y, x, ~((x.a <= c.low) | (x.a >= c.high)))
    low = np.where(x.a < c.low, c.low, x.a)
    return chosen(y, x, ~((x.a < c.low) | (low > c.high)))


register("where", t=1)(lambda c, k, a, b: where(k.a, a, b))


def comparison(f):
    def kernel(c, a, b):
        if on("integers_compared_as_f64") and a.a.dtype.kind == "i":
            return lift(f(a.a.astype(float), b.a.astype(float)))
        return lift(f(a.a, b.a))
    return kernel


for name, f in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                "ge": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
                "logical_xor": np.logical_xor}.items():
    register(name, result="bool")(comparison(f))
