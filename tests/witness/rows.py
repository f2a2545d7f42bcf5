"""What a row of the table is: an operation's name, and how to draw a case and have PyTorch compute it."""
import dataclasses
import typing

from table import Table


@dataclasses.dataclass
class Case:
    operands: list                  # arrays in the order of the signature; None where absent
    attributes: dict
    function: typing.Callable       # PyTorch's: of the operands, returns one tensor or a tuple of the results
    packs: list = dataclasses.field(default_factory=list)
    differentiable: bool = True     # whether PyTorch differentiates this function at all
    fixed: tuple = ()               # positions of real operands that PyTorch does not differentiate by


ROWS = Table()  # functions of a Draw that return a Case
row = ROWS.row

# Operations that PyTorch cannot witness, and why.
OTHER_GENERATOR = "PyTorch draws from another generator; the words of ours have known-answer tests"
NOT_THERE = "PyTorch has no such operation"
WITHOUT = {
    **dict.fromkeys(("uniform", "normal", "bernoulli_mask", "dropout", "categorical", "xavier_uniform", "xavier_normal",
                     "kaiming_uniform", "kaiming_normal"), OTHER_GENERATOR),
    "pinball": NOT_THERE,
}
