"""Values and derivatives by PyTorch's autodiff: forward, reverse, and forward through reverse. It knows neither requests nor programs.

`run` takes inputs and gives outputs; `wrt` has a truth value per input; seeds are tensors, or None where there is nothing to seed.
"""
import torch
from torch.autograd import forward_ad


def real(x):
    """Whether it carries derivatives."""
    return x is not None and x.is_floating_point()


def filled(given, like):
    """Seeds with zeros where none is given; None for what carries no derivative."""
    given = [*given, *[None] * (len(like) - len(given))]
    return [t if t is not None else torch.zeros_like(x) if real(x) else None for t, x in zip(given, like)]


def duals_of(inputs, tangents, wrt):
    return [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, filled(tangents, inputs), wrt)]


def marked(inputs, wrt):
    return [x.requires_grad_() for x, w in zip(inputs, wrt) if w]


def pulled_back(outputs, cotangents, leaves):
    """The cotangents of the leaves, zeros where no output depends on one."""
    pairs = [(y, c) for y, c in zip(outputs, cotangents) if real(y) and y.requires_grad]
    if not pairs or not leaves:
        return [torch.zeros_like(x) for x in leaves]
    found = torch.autograd.grad([y for y, _ in pairs], leaves, [c for _, c in pairs], allow_unused=True)
    return [torch.zeros_like(x) if d is None else d for x, d in zip(leaves, found)]


def spread(found, wrt):
    """One entry per input, None where it is not marked."""
    found = iter(found)
    return [next(found) if w else None for w in wrt]


def jvp(run, inputs, wrt, tangents):
    with forward_ad.dual_level():
        outputs = run(duals_of(inputs, tangents, wrt))
        pairs = [tuple(forward_ad.unpack_dual(y)) if real(y) else (y, None) for y in outputs]
    # PyTorch has no tangent where nothing moves.
    return {"outputs": [y for y, _ in pairs],
            "tangents": [torch.zeros_like(y) if t is None and real(y) else t for y, t in pairs]}


def vjp(run, inputs, wrt, cotangents):
    leaves = marked(inputs, wrt)
    outputs = run(inputs)
    return {"outputs": outputs, "cotangents": spread(pulled_back(outputs, filled(cotangents, outputs), leaves), wrt)}


def jvp_of_vjp(run, inputs, wrt, tangents, cotangents, moving):
    """The cotangents, and the tangents of the cotangents where inputs and the outputs' cotangents move."""
    with forward_ad.dual_level():
        marked(inputs, wrt)
        duals = duals_of(inputs, tangents, wrt)
        outputs = run(duals)
        seeds = [None if c is None else forward_ad.make_dual(c, m)
                 for c, m in zip(filled(cotangents, outputs), filled(moving, outputs))]
        found = [forward_ad.unpack_dual(d) for d in pulled_back(outputs, seeds, [x for x, w in zip(duals, wrt) if w])]
        return {"outputs": outputs, "cotangents": spread([d.primal for d in found], wrt),
                "cotangent_tangents": spread([torch.zeros_like(d.primal) if d.tangent is None else d.tangent for d in found], wrt)}
