"""Primitives that act element by element, with their JVP and transpose rules. Operands have equal shapes."""
import math

import numpy as np

from quarry.ir import Primitive, constant, make
from quarry.switch import defect

LN2 = np.log(np.longdouble(2))
TWO_OVER_ROOT_PI = 2 / np.sqrt(np.longdouble("3.14159265358979323846264338327950288"))


def like(node, number):
    """A constant of the node's shape and type: a weak scalar takes the type of what it stands beside."""
    return constant(np.full(node.shape, number, node.dtype)) if node.shape else constant(number, node.dtype)


def same_type(*args, **_):
    return args[0].shape, args[0].dtype


def as_bool(*args, **_):
    return args[0].shape, np.dtype(bool)


def primitive(name, impl, shape=same_type):
    p = Primitive(name)
    p.impl, p.shape, p.elementwise = impl, shape, True
    return p


def emit(prim, *args, **params):
    return make(prim, args, **params)


# Values whose rules in NumPy are not those of the definitions.

def erf_values(x):
    flat = [math.erf(v) for v in x.reshape(-1).astype(np.float64).tolist()]
    return np.array(flat, np.float64).reshape(x.shape).astype(x.dtype)


def sign_values(x):
    return np.where(x > 0, x.dtype.type(1), np.where(x < 0, x.dtype.type(-1), np.where(x == 0, x.dtype.type(0), x)))


def whole_values(f):
    return lambda x: f(x) if x.dtype.kind == "f" else x


def first_at_tie(f):
    """0 and -0 are equal: of equal operands the first is the result."""
    return lambda a, b: np.where(a == b, a, f(a, b))


def power_values(a, b):
    found = np.power(a, b)
    if a.dtype == np.longdouble:  # the C library's powers of infinities are wrong at the largest exponents
        found = np.where(np.isinf(a), np.power(a.astype(np.float64), b.astype(np.float64)), found)
    return found


def floor_divide_values(a, b):
    if a.dtype.kind != "f":
        return np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b))).astype(a.dtype)
    quotient = np.floor(a / b)
    # The exact remainder says which whole number it is where the rounded quotient may have crossed one.
    exact = np.rint((a - np.remainder(a, b)) / b)
    return np.where(np.isfinite(exact) & np.isfinite(quotient) & (quotient != 0), exact, quotient)


def remainder_values(a, b):
    if a.dtype.kind != "f":
        return np.where(b == 0, 0, np.remainder(a, np.where(b == 0, 1, b))).astype(a.dtype)
    return np.remainder(a, b)


def convert_values(x, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return x != 0
    if x.dtype.kind == "f" and dtype.kind == "i":
        ends, whole = np.iinfo(dtype), np.trunc(np.where(np.isnan(x), 0, x)).astype(np.longdouble)
        inside = np.clip(whole, -2.0**62, 2.0**62).astype(np.int64) if dtype.itemsize < 8 else np.where(
            (whole >= -np.longdouble(2)**63) & (whole < np.longdouble(2)**63), whole, 0).astype(np.int64)
        low, high = whole < np.longdouble(ends.min), whole > np.longdouble(ends.max)
        return np.where(low, ends.min, np.where(high, ends.max, inside)).astype(dtype)
    return x.astype(dtype)


neg = primitive("neg", lambda x: -x)
abs_ = primitive("abs", np.abs)
sign = primitive("sign", sign_values)
exp = primitive("exp", np.exp)
exp2 = primitive("exp2", np.exp2)
expm1 = primitive("expm1", np.expm1)
log = primitive("log", np.log)
log2 = primitive("log2", np.log2)
sqrt = primitive("sqrt", np.sqrt)
sin = primitive("sin", np.sin)
cos = primitive("cos", np.cos)
tan = primitive("tan", np.tan)
sinh = primitive("sinh", np.sinh)
cosh = primitive("cosh", np.cosh)
tanh = primitive("tanh", np.tanh)
erf = primitive("erf", erf_values)
def round_values(x):
    return np.rint(x)


def floor_values(x):
    return np.floor(x)


def isinf_values(x):
    return np.isinf(x)


def ge_values(a, b):
    return np.greater_equal(a, b)


def isfinite_values(x):
    if defect("isfinite_excludes_largest"):
        return np.abs(x) < np.finfo(x.dtype).max
    return np.isfinite(x)


def ceil_values(x):
    if defect("ceil_loses_negative_zero"):
        whole = np.trunc(x)
        return whole + (x > whole)
    return np.ceil(x)


def log1p_values(x):
    return np.log(1 + x) if defect("log1p_by_log") else np.log1p(x)


def atan2_values(a, b):
    return np.arctan2(a, b + 0) if defect("atan2_drops_sign_of_zero") else np.arctan2(a, b)


log1p = primitive("log1p", log1p_values)
floor = primitive("floor", whole_values(floor_values))
ceil = primitive("ceil", whole_values(ceil_values))
trunc = primitive("trunc", whole_values(np.trunc))
round_ = primitive("round", whole_values(round_values))
detach = primitive("detach", lambda x: x)
isnan = primitive("isnan", np.isnan, as_bool)
isinf = primitive("isinf", isinf_values, as_bool)
isfinite = primitive("isfinite", isfinite_values, as_bool)
add = primitive("add", np.add)
sub = primitive("sub", np.subtract)
mul = primitive("mul", np.multiply)
div = primitive("div", np.divide)
pow_ = primitive("pow", power_values)
atan2 = primitive("atan2", atan2_values)
maximum = primitive("maximum", first_at_tie(np.maximum))
minimum = primitive("minimum", first_at_tie(np.minimum))
floor_div = primitive("floor_div", floor_divide_values)
rem = primitive("rem", remainder_values)
eq = primitive("eq", np.equal, as_bool)
ne = primitive("ne", np.not_equal, as_bool)
lt = primitive("lt", np.less, as_bool)
le = primitive("le", np.less_equal, as_bool)
gt = primitive("gt", np.greater, as_bool)
ge = primitive("ge", ge_values, as_bool)
and_ = primitive("and", np.logical_and, as_bool)
or_ = primitive("or", np.logical_or, as_bool)
xor = primitive("xor", np.not_equal, as_bool)
not_ = primitive("not", np.logical_not, as_bool)
bits = primitive("bits", np.bitwise_and)
select = primitive("select", np.where, lambda c, a, b: (a.shape, a.dtype))
convert = primitive("convert", lambda x, dtype: convert_values(x, dtype), lambda x, dtype: (x.shape, np.dtype(dtype)))


# JVP rules: (node, tangents) to a tangent, where None is an exact zero.

def slope(rule):
    """The rule of a function of one operand: its derivative at x, by which the tangent is multiplied."""
    return lambda node, t: None if t[0] is None else emit(mul, t[0], rule(node.args[0], node))


def two(p, q):
    return p if q is None else q if p is None else emit(add, p, q)


def times(t, factor):
    return None if t is None else emit(mul, t, factor)


def guarded(condition, t):
    return None if t is None else emit(select, condition, t, like(t, 0))


def jvp_div(node, t):
    (a, b), (ta, tb) = node.args, t
    left = None if ta is None else emit(div, ta, b)
    return two(left, None if tb is None else emit(neg, emit(div, emit(mul, tb, node), b)))


def jvp_pow(node, t):
    (a, b), (ta, tb) = node.args, t
    base = None
    if ta is not None:
        matters = emit(ne, b, like(b, 0))
        lowered = emit(mul, b, emit(pow_, a, emit(sub, b, like(b, 1))))
        if defect("power_slope_from_result"):
            lowered = emit(mul, b, emit(div, node, a))
        # Both are guarded: a cotangent of 0 would meet the infinity otherwise.
        lowered = guarded(matters, lowered)
        base = guarded(matters, emit(mul, ta, lowered))
    exponent = None
    if tb is not None:
        matters = emit(or_, emit(ne, a, like(a, 0)), emit(lt, b, like(b, 0)))
        factor = guarded(matters, emit(mul, node, emit(log, a)))
        exponent = guarded(matters, emit(mul, tb, factor))
    return two(base, exponent)


def jvp_atan2(node, t):
    a, b = node.args
    square = emit(add, emit(mul, a, a), emit(mul, b, b))
    return two(times(t[0], emit(div, b, square)), times(t[1], emit(neg, emit(div, a, square))))


def jvp_extremum(wins):
    def rule(node, t):
        parts = []
        for i in (0, 1):
            a, b = node.args[i], node.args[1 - i]
            shared = t[i] if t[i] is None else emit(select, emit(eq, a, b), emit(mul, t[i], like(t[i], 0.5)), t[i])
            parts.append(guarded(emit(wins, a, b), shared))
        return two(*parts)
    return rule


def jvp_mul(node, t):
    if defect("mul_slope_at_own_operand"):
        return two(times(t[0], node.args[0]), times(t[1], node.args[1]))
    return two(times(t[0], node.args[1]), times(t[1], node.args[0]))


def jvp_select(node, t):
    if t[1] is None and t[2] is None:
        return None
    sides = [like(node, 0) if s is None else s for s in t[1:]]
    return emit(select, node.args[0], *sides)


def jvp_rem(node, t):
    a, b = node.args
    return two(t[0], times(t[1], emit(neg, emit(floor, emit(div, a, b)))))


def linear(node, t):
    return None if t[0] is None else emit(node.prim, t[0], **node.params)


def zero(node, t):
    return None


def jvp_sub(node, t):
    if t[0] is not None and t[1] is not None:
        return emit(sub, *t)
    if defect("sub_lone_tangent_unsigned"):
        return two(*t)
    return two(t[0], None if t[1] is None else emit(neg, t[1]))


def jvp_log2(node, t):
    factor = like(node, 1 / LN2 if defect("log2_slope_inverted") else LN2)
    return None if t[0] is None else emit(div, t[0], emit(mul, node.args[0], factor))


neg.jvp = linear
abs_.jvp = slope(lambda x, y: emit(sign, x))
exp.jvp = slope(lambda x, y: y)
exp2.jvp = slope(lambda x, y: emit(mul, y, like(y, LN2)))
expm1.jvp = slope(lambda x, y: emit(exp, x))
log.jvp = lambda node, t: None if t[0] is None else emit(div, t[0], node.args[0])
log2.jvp = jvp_log2
log1p.jvp = lambda node, t: None if t[0] is None else emit(div, t[0], emit(add, like(node, 1), node.args[0]))
sqrt.jvp = lambda node, t: None if t[0] is None else emit(div, t[0], emit(mul, like(node, 2), node))
sin.jvp = slope(lambda x, y: emit(cos, x))
cos.jvp = slope(lambda x, y: emit(neg, emit(sin, x)))
tan.jvp = slope(lambda x, y: emit(sub if defect("tan_slope_like_tanh") else add, like(y, 1), emit(mul, y, y)))
sinh.jvp = slope(lambda x, y: emit(cosh, x))
cosh.jvp = slope(lambda x, y: emit(neg, emit(sinh, x)) if defect("cosh_slope_like_cos") else emit(sinh, x))
tanh.jvp = slope(lambda x, y: emit(sub, like(y, 1), emit(mul, y, y)))
erf.jvp = slope(lambda x, y: emit(mul, emit(exp, emit(neg, emit(mul, *[
    emit(detach, x) if defect("erf_slope_is_constant") else x] * 2))),
                                  like(y, TWO_OVER_ROOT_PI)))
add.jvp = lambda node, t: two(*t)
sub.jvp, mul.jvp, div.jvp, pow_.jvp, atan2.jvp, rem.jvp = jvp_sub, jvp_mul, jvp_div, jvp_pow, jvp_atan2, jvp_rem
maximum.jvp, minimum.jvp = jvp_extremum(ge), jvp_extremum(le)
select.jvp = jvp_select
convert.jvp = linear
for flat in (sign, floor, ceil, trunc, round_, detach, floor_div, bits):
    flat.jvp = zero
detach.transpose = lambda node, ct, _: (ct,)
floor.jvp = zero


# Transposes: (node, cotangent, which operands are linear) to one cotangent per operand.

def transpose_mul(node, ct, linear_in):
    a, b = node.args
    return (emit(mul, ct, b) if linear_in[0] else None, emit(mul, ct, a) if linear_in[1] else None)


def transpose_sub(node, ct, on):
    other = emit(neg, ct)
    return ct if on[0] else None, other if on[1] else None


def transpose_select(node, ct, linear_in):
    c, zeros = node.args[0], like(ct, 0)
    return (None, emit(select, c, ct, zeros) if linear_in[1] else None,
            emit(select, c, zeros, ct) if linear_in[2] else None)


neg.transpose = lambda node, ct, _: (emit(neg, ct),)
add.transpose = lambda node, ct, on: tuple(ct if i else None for i in on)
sub.transpose = transpose_sub
mul.transpose = transpose_mul
div.transpose = lambda node, ct, on: (emit(div, ct, node.args[1]), None)
select.transpose = transpose_select
convert.transpose = lambda node, ct, _: (emit(convert, ct, dtype=node.args[0].dtype.str),)
