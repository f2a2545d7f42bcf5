"""Products, as PyTorch spells them."""
import torch

from rows import Case, row


@row
def matmul(g):
    p, q = g.joined(2, 3)
    m, k, n = g.extent(0), g.extent(0), g.extent(0)
    return Case([g.real((*p[:2], m, k)), g.real((*q[:2], k, n))] if p[:2] == p and q[:2] == q else
                [g.real((m, k)), g.real((k, n))], {}, torch.matmul)


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


@row
def einsum(g):
    sizes = {c: g.extent() for c in "abijk"}
    spec = g.pick("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij,ij->", "i,j->ij", "bij,bjk,ka->bia", "ijk->j")
    operands = [g.real(tuple(sizes[c] for c in term)) for term in spec.split("->")[0].split(",")]
    return Case(operands, {"spec": spec}, lambda *x: torch.einsum(spec, *x))
