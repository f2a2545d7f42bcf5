"""Operations that read or write at computed places, and tensors made of places alone."""
import torch
import torch.nn.functional as F

from table import need, row
from tensors import dtype_of


def inside(t, extent):
    need(((t >= 0) & (t < extent)).all(), "request", "PyTorch refuses an index out of range")


@row()
def gather(a, x, t):
    inside(t, x.shape[a.axis])
    axis = a.axis % x.dim()
    chosen = torch.index_select(x, axis, t.flatten())
    return chosen.reshape((*x.shape[:axis], *t.shape, *x.shape[axis + 1:]))


@row()
def take_along_axis(a, x, t):
    inside(t, x.shape[a.axis])
    return torch.take_along_dim(x, t.long(), a.axis)


@row()
def scatter_add(a, x, t, s):
    inside(t, x.shape[a.axis])
    axis = a.axis % x.dim()
    return torch.index_add(x, axis, t.flatten(), s.reshape((*x.shape[:axis], t.numel(), *x.shape[axis + 1:])))


@row()
def scatter_add_along_axis(a, x, t, s):
    inside(t, x.shape[a.axis])
    return torch.scatter_add(x, a.axis, t.long(), s)


@row()
def one_hot(a, t):
    need(a.classes > 0, "attribute", "PyTorch refuses no classes")
    inside(t, a.classes)
    return torch.movedim(F.one_hot(t.long(), a.classes), -1, a.axis).to(dtype_of(a.dtype))


@row()
def embedding(a, w, t):
    inside(t, w.shape[0])
    # A negative row is none here; PyTorch counts it from the end.
    return F.embedding(t, w, a.padding_idx if 0 <= a.padding_idx < w.shape[0] else None)


@row()
def arange(a):
    need((a.stop - a.start) * a.step >= 0, "attribute", "PyTorch refuses a stop on the other side of the start")
    return torch.arange(a.start, a.stop, a.step, dtype=dtype_of(a.dtype))


@row("full", "constant")
def full(a):
    return torch.full(a.shape, a.value, dtype=dtype_of(a.dtype))


@row()
def zeros(a):
    return torch.zeros(a.shape, dtype=dtype_of(a.dtype))


@row()
def ones(a):
    return torch.ones(a.shape, dtype=dtype_of(a.dtype))
