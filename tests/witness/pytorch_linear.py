"""Products, as PyTorch spells them."""
import torch

from rows import Case, row


@row
def matmul(g):
    lead, (m, k, n) = g.joined(2, 2), (g.extent(0), g.extent(0), g.extent(0))
    a, b = (*lead[0][:2], m, k), (*lead[1][:2], k, n)
    if g.flag(0.3):
        a = (k,)
    if g.flag(0.3):
        b = (k,)
    try:
        torch.broadcast_shapes(a[:-2], b[:-2])
    except RuntimeError:
        a, b = (m, k), (k, n)
    if g.flag(0.2):
        return Case([g.integers(-5, 6, a), g.integers(-5, 6, b)], {}, torch.matmul)
    return Case([g.real(a), g.real(b)], {}, torch.matmul)


@row
def linear(g):
    n, o = g.extent(), g.extent()
    bias = g.real((o,)) if g.flag() else None
    return Case([g.real((*g.shape(0, 2), n)), g.real((o, n)), bias], {}, torch.nn.functional.linear)


@row
def dot(g):
    n = g.extent(0, 6)
    return Case([g.real((n,)), g.real((n,))], {}, torch.dot)


@row
def outer(g):
    return Case([g.real((g.extent(0),)), g.real((g.extent(0),))], {}, torch.outer)
