"""Functions of one operand, element by element."""
import torch
import torch.nn.functional as F

import tensors
from table import need, plain, row

plain({name: getattr(torch, name) for name in
       ("neg", "abs", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin",
        "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "erf", "floor", "ceil", "round", "trunc", "isnan", "isinf",
        "isfinite", "logical_not")})
plain({"relu": F.relu, "silu": F.silu, "detach": torch.Tensor.detach})


@row()
def sign(a, x):
    need(not torch.isnan(x).any(), "request", "PyTorch's sign of NaN is 0")
    return torch.sign(x)


@row()
def softplus(a, x):
    # From beta*x = threshold on PyTorch answers x; there the difference must be below half a unit in the last place.
    return F.softplus(x, a.beta, threshold=20 if x.dtype == torch.float32 else 40)


@row()
def leaky_relu(a, x):
    return F.leaky_relu(x, a.slope)


@row()
def elu(a, x):
    return F.elu(x, a.alpha)


@row()
def gelu(a, x):
    return F.gelu(x, approximate=a.approximate)


@row()
def power(a, x):
    return torch.pow(x, a.p)


@row()
def scale(a, x):
    return x * a.by


@row()
def clamp(a, x):
    return torch.clamp(x, a.low, a.high)


@row()
def cast(a, x):
    to = tensors.dtype_of(a.dtype)
    if x.is_floating_point() and to in (torch.int32, torch.int64):
        inside = (x > float(torch.iinfo(to).min) - 1) & (x < -float(torch.iinfo(to).min))
        need(inside.all(), "request", "PyTorch leaves the conversion of a real out of the integer's range undefined")
    return x.to(to)
