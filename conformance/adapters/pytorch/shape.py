"""Operations that move elements."""
import torch

from table import need, row


def per_axis(value, x):
    """One entry per axis; an attribute that was left to its default is one number for all."""
    return value if isinstance(value, list) else [value] * x.dim()


@row()
def reshape(a, x):
    return torch.reshape(x, a.shape)


@row()
def literal(a, values):
    return torch.reshape(values, a.shape)


@row()
def flatten(a, x):
    return torch.flatten(x, a.start, a.end)


@row()
def transpose(a, x):
    return torch.permute(x, a.permutation)


@row()
def swap_axes(a, x):
    return torch.swapaxes(x, a.axis1, a.axis2)


@row()
def broadcast_to(a, x):
    return torch.broadcast_to(x, a.shape)


@row()
def concat(a, *pieces):
    return torch.cat(pieces, a.axis)


@row()
def stack(a, *pieces):
    return torch.stack(pieces, a.axis)


@row()
def split(a, x):
    return torch.split(x, a.sizes, a.axis)


@row("slice")
def slice_(a, x):
    start, step = per_axis(a.start, x), per_axis(a.step, x)
    need(min(step, default=1) > 0, "attribute", "PyTorch has no negative steps")
    # A stop before the start is no elements; Python would count a negative one from the end.
    return x[tuple(slice(b, e, s) if e > b else slice(0, 0) for b, e, s in zip(start, a.stop, step))]


@row()
def select(a, x):
    return torch.select(x, a.axis, a.index)


@row()
def pad(a, x):
    widths = [n for pair in zip(per_axis(a.low, x)[::-1], per_axis(a.high, x)[::-1]) for n in pair]
    return torch.nn.functional.pad(x, widths, value=a.value)


@row()
def flip(a, x):
    return torch.flip(x, a.axes)


@row()
def roll(a, x):
    need(a.axes, "attribute", "to PyTorch no axes mean the flattened tensor")
    return torch.roll(x, a.shift, a.axes)


@row()
def tril(a, x):
    return torch.tril(x, a.diagonal)


@row()
def triu(a, x):
    return torch.triu(x, a.diagonal)
