"""The four questions: values, forward-mode AD, autograd, and forward-mode AD of autograd."""
import autodiff
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


def seeds(request, field):
    """A list of the request, None where it has null."""
    return [None if t is None else decoded(t) for t in request.get(field) or []]


def forward(request, inputs, _):
    return {"outputs": program.run(request["program"], inputs, False)}


def differentiated(way, *fields):
    return lambda request, inputs, wrt: way(lambda given: program.run(request["program"], given, True), inputs, wrt,
                                            *[seeds(request, field) for field in fields])


MODES = {"forward": forward, "jvp": differentiated(autodiff.jvp, "tangents"), "vjp": differentiated(autodiff.vjp, "cotangents"),
         "jvp_of_vjp": differentiated(autodiff.jvp_of_vjp, "tangents", "cotangents", "cotangent_tangents")}


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
