"""What a row of the table is: an operation's name, and how to draw a case and have PyTorch compute it."""
import dataclasses
import typing


@dataclasses.dataclass
class Case:
    operands: list                  # arrays in the order of the signature; None where absent
    attributes: dict
    function: typing.Callable       # PyTorch's: of the operands, returns one tensor or a tuple of the results
    packs: list = dataclasses.field(default_factory=list)
    differentiable: bool = True     # whether PyTorch differentiates this function at all
    fixed: tuple = ()               # positions of real operands that PyTorch does not differentiate by


ROWS = {}

# Operations that PyTorch cannot witness, and why.
OTHER_GENERATOR = "PyTorch draws from another generator; the words of ours have known-answer tests"
NOT_THERE = "PyTorch has no such operation"
WITHOUT = {
    **dict.fromkeys(("uniform", "normal", "bernoulli_mask", "dropout", "categorical", "xavier_uniform", "xavier_normal",
                     "kaiming_uniform", "kaiming_normal"), OTHER_GENERATOR),
    "pinball": NOT_THERE,
}


def row(*names):
    """Registers a function of a Draw that returns a Case, under its own name; or, given names, of a Draw and a name."""
    if callable(names[0]):
        ROWS[names[0].__name__.rstrip("_")] = names[0]
        return names[0]

    def register(make):
        for name in names:
            ROWS[name] = lambda g, name=name: make(g, name)
        return make
    return register
