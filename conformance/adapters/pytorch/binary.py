"""Functions of two or three operands, element by element."""
import torch

from table import need, plain, row

plain({name: getattr(torch, name) for name in
       ("add", "sub", "mul", "div", "pow", "maximum", "minimum", "atan2", "where", "eq", "ne", "lt", "le", "gt", "ge",
        "logical_and", "logical_or", "logical_xor")})
plain({"fma": lambda x, y, z: torch.addcmul(z, x, y)})


def divisible(a, b):
    need(b.is_floating_point() or (b != 0).all(), "request", "PyTorch refuses to divide integers by 0")


@row()
def remainder(_, a, b):
    divisible(a, b)
    return torch.remainder(a, b)


@row()
def floor_divide(_, a, b):
    divisible(a, b)
    need(not (torch.isinf(a).any() or torch.isinf(b).any()), "request",
         "PyTorch follows Python at infinities: 1 // -inf is -1, inf // 2 is NaN")
    return torch.floor_divide(a, b)
