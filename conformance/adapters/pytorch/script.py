"""A request as a few lines of Python that need PyTorch alone: what the rows of the table call is written down as they
call it, and only what the answer depends on is kept."""
import re

import torch
from torch.autograd import forward_ad

import program
import tensors
from autodiff import filled
from modes import marked, seeds
from table import Unsupported
from recording import ACTIVE, Recording, literal


def chosen(names, shown, which):
    """What is printed: one element where the request points at one, else everything of this list."""
    if shown and shown["list"] == which:
        return [f"print({names[shown['tensor']]}.flatten()[{shown['element']}].item())"]
    return [] if shown else [f"print({name})" for name in names if name]


def declared(recording, request, inputs):
    lines = []
    for told, x in zip(request["program"]["inputs"], inputs):
        name = recording.name(x, told["name"])
        lines.append((name, f"{name} = {literal(x)}"))
    return lines


def recorded(recording, request, values, differentiates):
    """Runs the program while it is written down; a call that fails ends the script."""
    ACTIVE.append(recording)
    try:
        with recording:
            return program.run(request["program"], values, differentiates)
    except Unsupported:
        raise
    except Exception:
        return None
    finally:
        ACTIVE.pop()


def script(request):
    """The text of the script."""
    mode, shown = request["mode"], request.get("element")
    if mode not in ("forward", "jvp", "vjp"):
        raise Unsupported("mode", f"scripts of {mode} are not offered")
    inputs = [tensors.decoded(t) for t in request["inputs"]]
    wrt = marked(request)
    recording = Recording()
    lines = {"forward": values_script, "jvp": jvp_script, "vjp": vjp_script}[mode](recording, request, inputs, wrt, shown)
    return "\n".join(["import torch", *inlined("\n".join(lines).split("\n"))]) + "\n"


def inlined(lines):
    """Without names for what is written down once and used once."""
    for at, line in enumerate(lines):
        found = re.fullmatch(r" *(\w+) = (torch\.tensor\(.*\))", line)
        if not found or found[2].endswith("requires_grad_()"):
            continue
        name = re.compile(rf"\b{found[1]}\b(?!=)")
        uses = [k for k, other in enumerate(lines) if k != at for _ in name.findall(other)]
        if len(uses) == 1 and uses[0] > at:
            rest = [*lines[:at], *lines[at + 1:]]
            rest[uses[0] - 1] = name.sub(lambda _: found[2], rest[uses[0] - 1])
            return inlined(rest)
    return lines


def used(declarations, texts):
    """Declarations of the names that these lines speak of."""
    words = set(re.findall(r"\w+", "\n".join(texts)))
    return [text for name, text in declarations if name in words]


def values_script(recording, request, inputs, wrt, shown):
    declarations = declared(recording, request, inputs)
    outputs = recorded(recording, request, inputs, False)
    names = [] if outputs is None else [recording.name(y) for y in outputs]
    wanted = [names[shown["tensor"]]] if shown and names else names
    body = recording.needed(wanted) + (chosen(names, shown, "outputs") if names else [])
    return used(declarations, body) + body


def vjp_script(recording, request, inputs, wrt, shown):
    leaves = [x.requires_grad_() for x, w in zip(inputs, wrt) if w]
    declarations = [(name, text + (".requires_grad_()" if w else ""))
                    for (name, text), w in zip(declared(recording, request, inputs), wrt)]
    outputs = recorded(recording, request, inputs, True)
    if outputs is None:
        body = recording.needed([])
        return used(declarations, body) + body
    names = [recording.name(y) for y in outputs]
    if shown and shown["list"] == "outputs":
        body = recording.needed([names[shown["tensor"]]]) + chosen(names, shown, "outputs")
        return used(declarations, body) + body
    pairs = [(n, c) for n, y, c in zip(names, outputs, filled(seeds(request, "cotangents"), outputs)) if program.real(y) and y.requires_grad]
    by = [recording.names[id(x)] for x in leaves]
    found = ["d_" + name for name in by]
    body = recording.needed([n for n, _ in pairs])
    body.append(f"{', '.join(found)}, = torch.autograd.grad([{', '.join(n for n, _ in pairs)}], [{', '.join(by)}], "
                f"[{', '.join(literal(c) for _, c in pairs)}], allow_unused=True)")
    per_input = iter(found)
    body += chosen([next(per_input) if w else None for w in wrt], shown, "cotangents")
    return used(declarations, body) + body


def jvp_script(recording, request, inputs, wrt, shown):
    with forward_ad.dual_level():
        tangents = filled(seeds(request, "tangents"), inputs)
        duals = [forward_ad.make_dual(x, t) if w else x for x, t, w in zip(inputs, tangents, wrt)]
        plain = declared(recording, request, duals)
        declarations = []
        for (name, _), x, t, w in zip(plain, inputs, tangents, wrt):
            declarations.append((name, f"{name} = " + (f"ad.make_dual({literal(x)}, {literal(t)})" if w else literal(x))))
        outputs = recorded(recording, request, duals, True)
        names = [] if outputs is None else [recording.name(y) for y in outputs]
        of_value = shown and shown["list"] == "outputs"
        body = recording.needed([names[shown["tensor"]]] if shown and names else names)
        if names and of_value:
            body += chosen([f"ad.unpack_dual({n}).primal" for n in names], shown, "outputs")
        elif names:
            body += chosen([f"ad.unpack_dual({n}).tangent" for n in names], shown, "tangents")
        indented = ["    " + line for line in used(declarations, body) + body]
    return ["import torch.autograd.forward_ad as ad", "with ad.dual_level():", *indented]
