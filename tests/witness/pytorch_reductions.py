"""Reductions, as PyTorch spells them."""
import torch

from rows import Case, row


def some_axes(g, shape, least=0):
    """Axes as the definition takes them, with PyTorch's spelling; none given means all."""
    if g.flag(0.3):
        return {}, tuple(range(len(shape)))
    axes = g.axes(shape, least)
    return {"axes": axes}, tuple(axes)


def rarely_special(g, x):
    return g.special(x, 0.1) if x.dtype.kind == "f" and g.index % 7 == 6 else x


def over(function, x, axes, keep):
    """A function of one axis at a time, applied to several."""
    for axis in sorted((a % x.dim() for a in axes), reverse=True):
        x = function(x, axis, keep)
    return x


AXES = {
    "mean": lambda x, axes, keep: torch.mean(x, axes, keep),
    "max": lambda x, axes, keep: torch.amax(x, axes, keep),
    "min": lambda x, axes, keep: torch.amin(x, axes, keep),
    "logsumexp": lambda x, axes, keep: torch.logsumexp(x, axes, keep),
}


@row(*AXES)
def _(g, name):
    shape = g.shape(1, 3)
    attributes, axes = some_axes(g, shape, 1)
    keep = g.flag()
    x = g.number_or_integer(shape) if name in ("max", "min") else g.real(shape)
    return Case([rarely_special(g, x)], {**attributes, "keepdims": keep}, lambda x: AXES[name](x, axes, keep))


@row
def sum(g):
    shape = g.shape(0, 3, 0)
    attributes, axes = some_axes(g, shape)
    keep = g.flag()
    # PyTorch takes no axes for all axes.
    function = lambda x: x.clone() if not axes else torch.sum(x, axes, keep, dtype=x.dtype)
    return Case([rarely_special(g, g.number_or_integer(shape))], {**attributes, "keepdims": keep}, function)


@row
def prod(g):
    shape = g.shape(0, 3, 0)
    attributes, axes = some_axes(g, shape)
    keep = g.flag()
    each = lambda x, axis, keep: torch.prod(x, axis, keep, dtype=x.dtype)
    return Case([rarely_special(g, g.number_or_integer(shape))], {**attributes, "keepdims": keep},
                lambda x: over(each, x.clone(), axes, keep))


@row("any", "all")
def _(g, name):
    shape = g.shape(0, 3, 0)
    attributes, axes = some_axes(g, shape)
    keep = g.flag()
    each = {"any": torch.any, "all": torch.all}[name]
    return Case([g.truth(shape, 0.8 if name == "all" else 0.2)], {**attributes, "keepdims": keep},
                lambda x: over(each, x.clone(), axes, keep))


@row("argmax", "argmin")
def _(g, name):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    x = g.number_or_integer(shape)
    if (x == 0).any() and x.dtype.kind == "f":
        x = x + 0.0  # -0 and 0 are equal; PyTorch agrees
    function = {"argmax": torch.argmax, "argmin": torch.argmin}[name]
    x = rarely_special(g, x)
    if g.flag(0.3):
        return Case([x], {}, lambda x: function(x))  # the position in the whole tensor
    keep = g.flag()
    return Case([x], {"axes": [axis], "keepdims": keep}, lambda x: function(x, axis, keepdim=keep))


@row("var", "std")
def _(g, name):
    shape = g.shape(1, 3, 2)
    attributes, axes = some_axes(g, shape, 1)
    keep, correction = g.flag(), g.pick(0, 1)
    function = {"var": torch.var, "std": torch.std}[name]
    return Case([g.real(shape)], {**attributes, "keepdims": keep, "correction": correction},
                lambda x: function(x, axes, correction=correction, keepdim=keep))


@row
def norm(g):
    shape = g.shape(1, 3)
    attributes, axes = some_axes(g, shape, 1)
    keep, order = g.flag(), g.pick("two", "one", "infinity")
    number = {"two": 2, "one": 1, "infinity": torch.inf}[order]
    return Case([g.real(shape)], {**attributes, "keepdims": keep, "ord": order},
                lambda x: torch.linalg.vector_norm(x, number, axes, keep))


@row("cumsum", "cumprod")
def _(g, name):
    shape = g.shape(1, 3)
    axis = g.axis(shape)
    function = {"cumsum": torch.cumsum, "cumprod": torch.cumprod}[name]
    return Case([g.number_or_integer(shape)], {"axis": axis}, lambda x: function(x, axis, dtype=x.dtype))
