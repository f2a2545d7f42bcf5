"""Operations on each element."""
import numpy as np

from quarry import build as a
from quarry.build import to, where
from quarry.ir import Node
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect

ANY = {"neg": a.negate, "abs": a.magnitude, "sign": a.sign, "square": lambda x: x * x, "floor": a.floor,
       "ceil": a.ceil, "trunc": a.trunc, "round": a.rint, "detach": a.detach,
       "exp": a.exp, "exp2": a.exp2, "expm1": a.expm1, "log": a.log, "log2": a.log2, "log1p": a.log1p,
       "sqrt": a.sqrt, "reciprocal": lambda x: 1.0 / x, "rsqrt": lambda x: 1.0 / a.sqrt(x),
       "sin": a.sin, "cos": a.cos, "tan": a.tan, "sinh": a.sinh, "cosh": a.cosh, "tanh": a.tanh, "erf": a.erf,
       "logical_not": a.holds_not}
PAIRS = {"add": a.add, "sub": a.sub, "mul": a.mul, "div": a.div, "pow": a.power, "atan2": a.atan2,
         "maximum": a.maximum, "minimum": a.minimum, "floor_divide": a.floor_divide, "remainder": a.remainder,
         "eq": a.eq, "ne": a.ne, "lt": a.lt, "le": a.le, "gt": a.gt, "ge": a.ge,
         "logical_and": a.both, "logical_or": a.either, "logical_xor": a.differ}

for _name, _f in ANY.items():
    operation(_name)(lambda at, x, f=_f: f(x))
for _name, _f in PAIRS.items():
    operation(_name)(lambda at, x, y, f=_f: f(x, y))


def test(f, of_integers):
    def body(at, x):
        return f(x) if x.real else a.broadcast(a.constant(of_integers), x.shape)
    return body


operation("isnan")(test(a.isnan, False))
operation("isinf")(test(a.isinf, False))
operation("isfinite")(test(a.isfinite, True))


@operation(by=OPTIONAL)
def scale(at, x):
    return at.by * x


@operation(low=-np.inf, high=np.inf)
def clamp(at, x):
    if defect("clamp_flat_at_bounds"):
        z = where(x <= at.low, at.low, x)
        return where(z >= at.high, at.high, z)
    z = where(x < at.low, at.low, x)
    return where(z > at.high, at.high, z)


@operation(typed=True, raw=True, dtype=OPTIONAL)
def cast(at, x):
    from quarry.session import dtype_of
    return to(x, dtype_of(at.dtype))


@operation()
def fma(at, x, y, z):
    return x * y + z


@operation("where")
def where_(at, c, x, y):
    return where(c, x, y)


@operation(p=OPTIONAL)
def power(at, x):
    if not isinstance(at.p, Node) and at.p == 0:
        return a.broadcast(a.lift(1.0, x.dtype), x.shape)
    return a.power(x, at.p)


@operation(eps=1e-12, form="maximum")
def safe_log(at, x):
    if at.form == "maximum":
        if defect("safe_log_passes_all_at_eps"):
            return a.log(where(x < at.eps, at.eps, x))
        return a.log(a.maximum(x, at.eps))
    return a.log(smooth_plus(x) + at.eps)


@operation(eps=1e-6)
def smooth_abs(at, x):
    return a.sqrt(x * x + at.eps)


def smooth_plus(x):
    """log(1 + e^x). Each branch sees only operands for which it does not overflow, so neither gives 0*inf."""
    below = x <= 0
    return where(below, a.log1p(a.exp(where(below, x, 0.0))), x + a.log1p(a.exp(-where(below, 0.0, x))))


def logistic(x):
    below = x < 0
    e = a.exp(where(below, x, 0.0))
    return where(below, e / (1.0 + e), 1.0 / (1.0 + a.exp(-where(below, 0.0, x))))


@operation()
def sigmoid(at, x):
    return logistic(x)


@operation(beta=1.0)
def softplus(at, x):
    return smooth_plus(at.beta * x) / at.beta


@operation()
def relu(at, x):
    if defect("relu_slope_at_zero"):
        return where(x < 0, 0, x) + 0
    return where(x <= 0, 0, x)


@operation(slope=0.01)
def leaky_relu(at, x):
    return where(x > 0, x, at.slope * x)


@operation(alpha=1.0)
def elu(at, x):
    above = x > 0
    below = x if defect("elu_branch_unguarded") else where(above, 0.0, x)
    return where(above, x, at.alpha * a.expm1(below))


@operation(approximate="none")
def gelu(at, x):
    if at.approximate == "none":
        return x * ((1.0 + a.erf(x / np.sqrt(np.longdouble(2)))) / 2.0)
    return x * ((1.0 + a.tanh(np.sqrt(2 / a.PI) * (x + 0.044715 * (x * x * x)))) / 2.0)


@operation()
def silu(at, x):
    below = x < 0
    e = a.exp(where(below, x, 0.0))
    return where(below, x * (e / (1.0 + e)), x / (1.0 + a.exp(-where(below, 0.0, x))))


@operation()
def sat01(at, x):
    return where(x <= 0, 0, where(x >= 1, 1, x))
