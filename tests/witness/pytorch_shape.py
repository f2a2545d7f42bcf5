"""Operations that move elements, as PyTorch spells them."""
import numpy
import torch

from rows import Case, row


def anything(g, shape):
    """Reals mostly, sometimes integers or truth values."""
    return g.truth(shape) if g.flag(0.1) else g.number_or_integer(shape)


def resized(g, shape, axis):
    """The shape with another extent at the axis."""
    axis %= len(shape)
    return (*shape[:axis], g.extent(), *shape[axis + 1:])


@row
def transpose(g):
    shape = g.shape(0, 4)
    permutation = [int(a) for a in g.rng.permutation(len(shape))]
    return Case([anything(g, shape)], {"permutation": permutation}, lambda x: torch.permute(x, permutation))


@row
def swap_axes(g):
    shape = g.shape(2, 4)
    a, b = (int(i) for i in g.rng.permutation(len(shape))[:2])
    a = a - len(shape) if g.flag() else a
    return Case([anything(g, shape)], {"axis1": a, "axis2": b}, lambda x: torch.swapaxes(x, a, b))


@row
def reshape(g):
    shape = g.shape(0, 3, 0)
    to = [int(n) for n in g.rng.permutation(shape)]
    if g.flag():
        to = [int(numpy.prod(shape))] + [1] * g.extent(0, 2)
    return Case([anything(g, shape)], {"shape": to}, lambda x: torch.reshape(x, to))


@row
def flatten(g):
    shape = g.shape(1, 4)
    first = g.extent(0, len(shape) - 1)
    last = g.extent(first, len(shape) - 1)
    return Case([anything(g, shape)], {"start": first, "end": last}, lambda x: torch.flatten(x, first, last))


@row
def broadcast_to(g):
    shape = g.shape(0, 3)
    to = [g.extent() for _ in range(g.extent(0, 2))] + [g.extent() if n == 1 else n for n in shape]
    return Case([anything(g, shape)], {"shape": to}, lambda x: torch.broadcast_to(x, to))


@row
def concat(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    pieces = []
    for _ in range(g.extent(1, 4)):
        extents = list(shape)
        extents[axis] = g.extent(0, 3)
        pieces.append(g.real(extents))
    return Case(pieces, {"axis": axis}, lambda *x: torch.cat(x, axis))


@row
def stack(g):
    shape = g.shape(0, 3)
    axis = g.extent(-len(shape) - 1, len(shape))
    return Case([g.real(shape) for _ in range(g.extent(1, 4))], {"axis": axis}, lambda *x: torch.stack(x, axis))


@row
def split(g):
    shape = list(g.shape(1, 3))
    axis = g.axis(shape)
    sizes = [g.extent(0, 3) for _ in range(g.extent(1, 3))]
    shape[axis] = sum(sizes)
    return Case([anything(g, shape)], {"axis": axis, "sizes": sizes}, lambda x: torch.split(x, sizes, axis))


@row
def slice_(g):
    shape = g.shape(1, 3, 1, 6)
    start = [g.extent(0, n - 1) for n in shape]
    stop = [g.extent(a, n) for a, n in zip(start, shape)]
    step = [g.extent(1, 3) for _ in shape]
    index = tuple(slice(a, b, c) for a, b, c in zip(start, stop, step))
    return Case([anything(g, shape)], {"start": start, "stop": stop, "step": step}, lambda x: x[index].clone())


@row
def pad(g):
    shape = g.shape(1, 3)
    low, high = [g.extent(0, 2) for _ in shape], [g.extent(0, 2) for _ in shape]
    value = g.pick(0.0, 1.5, -2.0)
    widths = [n for pair in zip(reversed(low), reversed(high)) for n in pair]
    return Case([g.real(shape)], {"low": low, "high": high, "value": value},
                lambda x: torch.nn.functional.pad(x, widths, value=value))


@row
def flip(g):
    shape = g.shape(1, 3)
    axes = g.axes(shape)
    return Case([anything(g, shape)], {"axes": axes}, lambda x: torch.flip(x, axes))


@row
def roll(g):
    shape = g.shape(1, 3)
    axes = g.axes(shape, 1)
    shift = [g.extent(-5, 5) for _ in axes]
    return Case([anything(g, shape)], {"axes": axes, "shift": shift}, lambda x: torch.roll(x, shift, axes))


@row("tril", "triu")
def _(g, name):
    diagonal = g.extent(-3, 3)
    function = {"tril": torch.tril, "triu": torch.triu}[name]
    return Case([g.number_or_integer(g.shape(2, 3))], {"diagonal": diagonal}, lambda x: function(x, diagonal))


@row
def interleave(g):
    shape = g.shape(1, 3)
    axis = g.extent(0, len(shape) - 1)
    return Case([g.real(shape), g.real(shape)], {"axis": axis},
                lambda a, b: torch.stack((a, b), axis + 1).flatten(axis, axis + 1))


@row
def deinterleave(g):
    shape = (*g.shape(0, 2), 2 * g.extent())
    return Case([g.real(shape)], {}, lambda x: (x[..., 0::2].clone(), x[..., 1::2].clone()))


@row
def gather(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    t = g.integers(0, shape[axis], g.shape(0, 2), g.pick("int32", "int64"))

    def function(x, t):
        chosen = torch.index_select(x, axis, t.flatten())
        return torch.unflatten(chosen, axis, t.shape) if t.dim() > 0 else torch.squeeze(chosen, axis)
    return Case([g.real(shape), t], {"axis": axis}, function)


@row
def take_along_axis(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    extents = resized(g, shape, axis)
    return Case([g.real(shape), g.integers(0, shape[axis], extents)], {"axis": axis},
                lambda x, t: torch.take_along_dim(x, t, axis))


@row
def scatter_add(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    extents = resized(g, shape, axis)
    t = g.integers(0, shape[axis], (extents[axis],))
    return Case([g.real(shape), t, g.real(extents)], {"axis": axis}, lambda x, t, s: torch.index_add(x, axis, t, s))


@row
def scatter_add_along_axis(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    extents = resized(g, shape, axis)
    return Case([g.real(shape), g.integers(0, shape[axis], extents), g.real(extents)], {"axis": axis},
                lambda x, t, s: torch.scatter_add(x, axis, t, s))


@row
def select(g):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    index = g.extent(0, shape[axis] - 1)
    return Case([anything(g, shape)], {"axis": axis, "index": index}, lambda x: torch.select(x, axis, index).clone())


@row
def one_hot(g):
    classes = g.extent(1, 5)
    shape = g.shape(0, 2)
    axis = g.extent(-len(shape) - 1, len(shape))
    return Case([g.integers(0, classes, shape)], {"classes": classes, "axis": axis, "dtype": g.type_name()},
                lambda t: torch.movedim(torch.nn.functional.one_hot(t, classes), -1, axis).to(g.type()))


@row
def embedding(g):
    v, d = g.extent(2, 5), g.extent()
    padding = g.pick(None, 0, v - 1)
    attributes = {} if padding is None else {"padding_idx": padding}
    return Case([g.real((v, d)), g.integers(0, v, g.shape(0, 2))], attributes,
                lambda w, t: torch.nn.functional.embedding(t, w, padding))


@row
def arange(g):
    start, stop, step = g.extent(-5, 5), g.extent(-5, 12), g.pick(1, 2, 3)
    start, stop, step = (start, max(start, stop), step) if g.flag() else (start, min(start, stop), -step)
    dtype = g.pick("f32", "f64", "i32", "i64")
    types = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32, "i64": torch.int64}
    return Case([], {"start": start, "stop": stop, "step": step, "dtype": dtype},
                lambda: torch.arange(start, stop, step, dtype=types[dtype]))


@row("full", "constant")
def _(g, name):
    shape, value = g.shape(), g.pick(0.0, 1.5, -0.1)
    return Case([], {"shape": list(shape), "value": value, "dtype": g.type_name()},
                lambda: torch.full(shape, value, dtype=g.type()))


@row("zeros", "ones")
def _(g, name):
    shape = g.shape()
    function = {"zeros": torch.zeros, "ones": torch.ones}[name]
    return Case([], {"shape": list(shape), "dtype": g.type_name()}, lambda: function(shape, dtype=g.type()))


@row
def literal(g):
    shape = g.shape()
    return Case([g.real((int(numpy.prod(shape)),))], {"shape": list(shape)}, lambda x: torch.reshape(x, shape))
