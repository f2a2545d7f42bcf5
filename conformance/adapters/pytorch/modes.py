"""The four questions: values, forward-mode AD, autograd, and forward-mode AD of autograd."""
import torch
from torch.autograd import forward_ad

import program
from table import Rejected, Unsupported, refusal
from tensors import decoded, encoded


def marked(request):
    """One truth value per input; `wrt` has positions or truth values, without it what has a tangent counts."""
    inputs, wrt = request["inputs"], request.get("wrt")
    if wrt is None:
        given = request.get("tangents") or []
        return [i < len(given) and given[i] is not None for i in range(len(inputs))]
    if all(isinstance(w, bool) for w in wrt) and len(wrt) == len(inputs):
        return wrt
    return [i in wrt for i in range(len(inputs))]


def seeds(request, field, like):
    """A list of the request, with zeros where it has null; None for what carries no derivative."""
    given = request.get(field) or []
    given = [*given, *[None] * (len(like) - len(given))]
    return [decoded(t) if t is not None else torch.zeros_like(x) if program.real(x) else None
            for t, x in zip(given, like)]


def forward(request, inputs, _):
    return {"outputs": program.run(request["program"], inputs, False)}


def jvp(request, inputs, wrt):
    with forward_ad.dual_level():
        tangents = seeds(request, "tangents", inputs)
        duals = [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, tangents, wrt)]
        pairs = [(forward_ad.unpack_dual(y) if program.real(y) else (y, None))
                 for y in program.run(request["program"], duals, True)]
        # PyTorch has no tangent where nothing moves.
        return {"outputs": [y for y, _ in pairs],
                "tangents": [torch.zeros_like(y) if t is None and program.real(y) else t for y, t in pairs]}


def pulled_back(outputs, cotangents, leaves):
    """The cotangents of the leaves, zeros where no output depends on one."""
    pairs = [(y, c) for y, c in zip(outputs, cotangents) if program.real(y) and y.requires_grad]
    if not pairs or not leaves:
        return [torch.zeros_like(x) for x in leaves]
    found = torch.autograd.grad([y for y, _ in pairs], leaves, [c for _, c in pairs], allow_unused=True)
    return [torch.zeros_like(x) if d is None else d for x, d in zip(leaves, found)]


def spread(found, wrt):
    """One entry per input, None where it is not marked."""
    found = iter(found)
    return [next(found) if w else None for w in wrt]


def vjp(request, inputs, wrt):
    for x, w in zip(inputs, wrt):
        if w:
            x.requires_grad_()
    outputs = program.run(request["program"], inputs, True)
    found = pulled_back(outputs, seeds(request, "cotangents", outputs), [x for x, w in zip(inputs, wrt) if w])
    return {"outputs": outputs, "cotangents": spread(found, wrt)}


def jvp_of_vjp(request, inputs, wrt):
    with forward_ad.dual_level():
        tangents = seeds(request, "tangents", inputs)
        for x, w in zip(inputs, wrt):
            if w:
                x.requires_grad_()
        duals = [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, tangents, wrt)]
        outputs = program.run(request["program"], duals, True)
        moving = seeds(request, "cotangent_tangents", outputs)
        cotangents = [None if c is None else forward_ad.make_dual(c, m)
                      for c, m in zip(seeds(request, "cotangents", outputs), moving)]
        found = [forward_ad.unpack_dual(d)
                 for d in pulled_back(outputs, cotangents, [x for x, w in zip(duals, wrt) if w])]
        zero = lambda d: torch.zeros_like(d.primal) if d.tangent is None else d.tangent
        return {"outputs": outputs, "cotangents": spread([d.primal for d in found], wrt),
                "cotangent_tangents": spread([zero(d) for d in found], wrt)}


MODES = {"forward": forward, "jvp": jvp, "vjp": vjp, "jvp_of_vjp": jvp_of_vjp}


def run(request):
    mode = request.get("mode", "forward")
    if mode not in MODES:
        raise Unsupported("mode", f"{mode} is not offered")
    inputs = [decoded(t) for t in request["inputs"]]
    for declared, x in zip(request["program"]["inputs"], inputs):
        if list(x.shape) != declared["shape"]:
            raise Rejected(f"input {declared['name']} has shape {list(x.shape)}, declared is {declared['shape']}")
    try:
        answer = MODES[mode](request, inputs, marked(request))
    except (RuntimeError, NotImplementedError) as error:  # from the backward pass
        raise refusal(error) from error
    return {name: [encoded(x) for x in found] for name, found in answer.items()}
