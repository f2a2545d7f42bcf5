"""The table of operations: a name of the library, and a function of the attributes and the operands."""
import dataclasses
import typing

import torch

from limits import limit


class Unsupported(Exception):
    """PyTorch does not offer this, or means something else by it."""

    def __init__(self, what, why):
        super().__init__(why)
        self.what, self.why = what, why


class Rejected(Exception):
    """PyTorch refuses the call."""


def refusal(error):
    """What an exception of PyTorch is to the protocol."""
    what, why = limit(error)
    return Unsupported(what, why) if what else Rejected(why)


@dataclasses.dataclass
class Row:
    function: typing.Callable    # of the attributes and the operands; None stands for an absent operand
    differentiable: bool = True  # whether PyTorch says that this function has derivatives


ROWS = {}


def row(*names, differentiable=True):
    """Registers a function under its own name, or under the names given."""
    def register(function):
        for name in names or (function.__name__.rstrip("_"),):
            ROWS[name] = Row(function, differentiable)
        return function
    return register


def plain(functions, differentiable=True):
    """Registers PyTorch's own functions of the operands alone."""
    for name, function in functions.items():
        ROWS[name] = Row(lambda a, *operands, function=function: function(*operands), differentiable)


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


def moves(x):
    """Whether a derivative by this operand is asked for."""
    return x.requires_grad or torch.autograd.forward_ad.unpack_dual(x).tangent is not None
