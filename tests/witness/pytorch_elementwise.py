"""Operations on each element, as PyTorch spells them."""
import numpy
import torch
import torch.nn.functional as F

from rows import Case, row

REAL_LINE = {
    "exp": torch.exp, "exp2": torch.exp2, "expm1": torch.expm1, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan,
    "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh,
    "erf": torch.erf, "silu": F.silu,}
NUMBERS = {"neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "square": torch.square, "relu": F.relu,
           "sat01": lambda x: torch.clamp(x, 0, 1), "floor": torch.floor, "ceil": torch.ceil, "round": torch.round,
           "trunc": torch.trunc}
POSITIVE = {"sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "log": torch.log, "log2": torch.log2}
TESTS = {"isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite}
BROADCAST = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum}
COMPARISONS = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
LOGICAL = {"logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor}


def maybe_special(g, x):
    return g.special(x, 0.3) if x.dtype.kind == "f" and g.index % 5 == 4 else x


@row(*REAL_LINE)
def _(g, name):
    return Case([maybe_special(g, g.real(g.shape()))], {}, REAL_LINE[name])


@row(*NUMBERS)
def _(g, name):
    return Case([maybe_special(g, g.number_or_integer(g.shape()))], {}, NUMBERS[name])


@row(*POSITIVE)
def _(g, name):
    return Case([maybe_special(g, g.positive(g.shape()))], {}, POSITIVE[name])


@row(*TESTS)
def _(g, name):
    return Case([g.special(g.real(g.shape()), 0.4)], {}, TESTS[name])


@row
def reciprocal(g):
    return Case([maybe_special(g, g.nonzero(g.shape()))], {}, torch.reciprocal)


@row
def log1p(g):
    return Case([maybe_special(g, g.as_real(g.positive(g.shape()) - 0.75))], {}, torch.log1p)


@row
def sigmoid(g):
    return Case([maybe_special(g, g.real(g.shape(), 3 if g.family == "large" else 1))], {}, torch.sigmoid)


@row
def leaky_relu(g):
    slope = g.pick(0.01, 0.3, 0.0)
    return Case([g.real(g.shape())], {"slope": slope}, lambda x: F.leaky_relu(x, slope))


@row
def elu(g):
    alpha = g.pick(1.0, 0.5)
    return Case([g.real(g.shape())], {"alpha": alpha}, lambda x: F.elu(x, alpha))


@row
def softplus(g):
    beta = g.pick(1.0, 2.0)
    return Case([g.real(g.shape())], {"beta": beta}, lambda x: F.softplus(x, beta, 1000))


@row
def smooth_abs(g):
    eps = g.pick(1e-6, 0.1)
    return Case([g.real(g.shape())], {"eps": eps}, lambda x: torch.sqrt(x * x + eps))


@row
def gelu(g):
    form = g.pick("none", "tanh")
    return Case([g.real(g.shape())], {"approximate": form}, lambda x: F.gelu(x, approximate=form))


@row
def safe_log(g):
    eps, form = 1e-3, g.pick("maximum", "softplus")
    functions = {"maximum": lambda x: torch.log(torch.maximum(x, torch.full_like(x, eps))),
                 "softplus": lambda x: torch.log(F.softplus(x) + eps)}
    return Case([g.real(g.shape())], {"eps": eps, "form": form}, functions[form])


@row
def logical_not(g):
    return Case([g.truth(g.shape())], {}, torch.logical_not)


@row
def detach(g):
    return Case([g.real(g.shape())], {}, torch.Tensor.detach)


@row
def cast(g):
    to = g.pick("f32", "f64", "i32", "i64", "f16")
    types = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64, "f16": torch.float16}
    x = g.integers(-1000, 1000, g.shape(), g.pick("int32", "int64")) if to[0] == "i" else g.number_or_integer(g.shape())
    return Case([x], {"dtype": to}, lambda x: x.to(types[to]), differentiable=to != "f16")


@row(*BROADCAST)
def _(g, name):
    a, b = g.joined(2)
    if g.flag(0.2):
        dtype = g.pick("int32", "int64")
        return Case([g.integers(-5, 6, a, dtype), g.integers(-5, 6, b, dtype)], {}, BROADCAST[name])
    return Case([maybe_special(g, g.real(a)), g.real(b)], {}, BROADCAST[name])


@row
def div(g):
    a, b = g.joined(2)
    return Case([g.real(a), g.nonzero(b)], {}, torch.div)


@row(*COMPARISONS)
def _(g, name):
    a, b = g.joined(2)
    if g.flag(0.3):
        return Case([g.integers(-2, 3, a), g.integers(-2, 3, b)], {}, COMPARISONS[name])
    return Case([maybe_special(g, g.real(a)), g.real(b)], {}, COMPARISONS[name])


@row(*LOGICAL)
def _(g, name):
    a, b = g.joined(2)
    return Case([g.truth(a), g.truth(b)], {}, LOGICAL[name])


@row
def pow_(g):
    a, b = g.joined(2)
    return Case([g.positive(a), g.between(-3, 3, b)], {}, torch.pow)


@row
def power(g):
    p = g.pick(2, 3, -1, 0.5, 0, 1, -2)
    base = g.real(g.shape()) if p in (0, 1, 2, 3) else g.positive(g.shape())
    return Case([base], {"p": p}, lambda x: torch.pow(x, p))


@row
def atan2(g):
    a, b = g.joined(2)
    return Case([g.real(a), g.real(b)], {}, torch.atan2)


@row("remainder", "floor_divide")
def _(g, name):
    function = {"remainder": torch.remainder, "floor_divide": lambda a, b: torch.div(a, b, rounding_mode="floor")}[name]
    a, b = g.joined(2)
    if g.flag(0.3):
        return Case([g.integers(-9, 10, a), g.as_integer(g.integers(1, 5, b) * g.pick(-1, 1))], {}, function)
    return Case([g.real(a), g.nonzero(b)], {}, function)


@row
def clamp(g):
    low, high = sorted((g.pick(-1.0, -0.5, 0.0), g.pick(0.0, 0.5, 2.0)))
    return Case([g.real(g.shape())], {"low": low, "high": high}, lambda x: torch.clamp(x, low, high))


@row
def scale(g):
    by = g.pick(0.5, -3.0, 0.1)
    return Case([g.real(g.shape())], {"by": by}, lambda x: x * by)


@row
def where(g):
    c, a, b = g.joined(3)
    x, y = g.real(a), g.real(b)
    if g.flag(0.3):
        x, y = g.special(x), g.special(y)
    return Case([g.truth(c), x, y], {}, torch.where)


@row
def fma(g):
    a, b, c = g.joined(3)
    return Case([g.real(a), g.real(b), g.real(c)], {}, lambda x, y, z: torch.addcmul(z, x, y))
