"""Requests of Protocol 1: decoding, tracing of programs, derivatives, answers."""
import base64

import numpy as np

from tracer import library  # noqa: F401  (registers the operations)
from tracer.autodiff import jvp, vjp, zeros_like
from tracer.evaluate import evaluate
from tracer.faults import fault
from tracer.graph import Trace, tracing, variable
from tracer.protocol_words import Rejected, Unsupported
from tracer.registry import OPERATIONS, call
from tracer.views import View

DTYPES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "|b1"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
MODES = ("forward", "jvp", "vjp", "jvp_of_vjp")
REALS = ("f32", "f64")


def dtype_of(name):
    if name not in DTYPES:
        raise Unsupported("dtype", f"{name} is not offered")
    return np.dtype(DTYPES[name])


def decoded(t, where):
    dtype = dtype_of(t["dtype"])
    shape = [int(n) for n in t["shape"]]
    data = base64.b64decode(t["data"], validate=True)
    strided = t.get("strides") is not None or t.get("offset") is not None
    size = int(np.prod(shape, dtype=np.int64))
    if len(data) % dtype.itemsize or (not strided and len(data) != size * dtype.itemsize):
        raise ValueError(f"{where}.data: expected {size} elements of {dtype.itemsize} bytes, found {len(data)} bytes")
    base = np.frombuffer(data, dtype)
    offset, strides = t.get("offset") or 0, t.get("strides")
    if fault("layout_offset_needs_strides") and strides is None:
        offset = 0
    view = View(base, shape, strides, offset)
    if size and strided:
        reach = [s * (n - 1) for s, n in zip(view.strides, shape)]
        if offset + sum(min(0, r) for r in reach) < 0 or offset + sum(max(0, r) for r in reach) >= base.size:
            raise ValueError(f"{where}: an element lies outside of its data")
    return view


def encoded(x):
    x = np.asarray(x, order="C")
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": base64.b64encode(x.tobytes()).decode()}


def attribute(value, env):
    if isinstance(value, dict):
        return env[value["value"]]
    if isinstance(value, list):
        return [attribute(v, env) for v in value]
    if isinstance(value, str):
        if value in ("nan", "inf", "-inf"):
            return float(value)
        if value.lstrip("-").isdigit():
            return int(value)
    return value


def traced(program, env):
    for step in program["calls"]:
        if "operation" not in step:
            raise Unsupported("request", "a program of calls only is offered")
        operands = [None if name is None else env[name] for name in step["operands"]]
        given = {k: attribute(v, env) for k, v in (step.get("attributes") or {}).items()}
        results = call(step["operation"], operands, given, step.get("packs"))
        if len(results) != len(step["results"]):
            raise Rejected(f"{step['operation']}: {len(results)} results, {len(step['results'])} names")
        env.update(zip(step["results"], results))
    return [env[name] for name in program["outputs"]]


class Question:
    """One request: its program traced, with the nodes and numbers of all that comes in."""

    def __init__(self, request):
        program = request["program"]
        for more in ("updates", "buffers", "definitions"):
            if program.get(more):
                raise Unsupported("request", f"{more} are not offered")
        self.given, self.request = {}, request
        self.inputs, env = [], {}
        if len(request["inputs"]) != len(program["inputs"]):
            raise ValueError("inputs: one tensor per input is wanted")
        for i, (declared, t) in enumerate(zip(program["inputs"], request["inputs"])):
            env[declared["name"]] = self.enter(t, f"inputs[{i}]")
            self.inputs.append(env[declared["name"]])
            if list(self.inputs[-1].shape) != declared["shape"] or t["dtype"] != declared["dtype"]:
                raise Rejected(f"input {declared['name']} is another tensor than declared")
        self.outputs = traced(program, env)
        self.wrt = self.marked()

    def enter(self, t, where):
        view = decoded(t, where)
        node = variable(view.shape, view.base.dtype)
        self.given[node.number] = view
        return node

    def zero(self, like):
        node = variable(like.shape, like.dtype)
        self.given[node.number] = View.of(np.zeros(like.shape, like.dtype))
        return node

    def several(self, field, nodes):
        listed = self.request.get(field) or [None] * len(nodes)
        found = [None if t is None else self.enter(t, f"{field}[{i}]") for i, t in enumerate(listed)]
        return [None if f is None or not n.real else f for f, n in zip(found, nodes)]

    def marked(self):
        wrt = self.request.get("wrt")
        if wrt is None:
            wrt = [t is not None for t in self.request.get("tangents") or []]
        if all(isinstance(w, bool) for w in wrt):
            wrt = [i for i, w in enumerate(wrt) if w]
        return [i for i in wrt if self.inputs[i].real]

    def moving(self):
        tangents = self.several("tangents", self.inputs)
        return {self.inputs[i].number: tangents[i] for i in self.wrt if tangents[i] is not None}

    def answer(self, fields):
        """The named lists of nodes, computed together."""
        nodes = [n for listed in fields.values() for n in listed if n is not None]
        arrays = iter(evaluate(nodes, self.given))
        return {name: [None if n is None else encoded(next(arrays)) for n in listed]
                for name, listed in fields.items()}

    def placed(self, found):
        at = dict(zip(self.wrt, found))
        return [at.get(i) for i in range(len(self.inputs))]

    def forward(self):
        return self.answer({"outputs": self.outputs})

    def jvp(self):
        tangents = jvp(self.outputs, self.moving())
        tangents = [zeros_like(o) if t is None and o.real else t for o, t in zip(self.outputs, tangents)]
        return self.answer({"outputs": self.outputs, "tangents": tangents})

    def backward(self):
        self.cotangents = self.several("cotangents", self.outputs)
        if self.request["mode"] == "jvp_of_vjp":  # a cotangent that is absent is zero, but it may still move
            self.cotangents = [self.zero(o) if c is None and o.real else c
                               for c, o in zip(self.cotangents, self.outputs)]
        return vjp(self.outputs, [self.inputs[i] for i in self.wrt], self.cotangents)

    def vjp(self):
        return self.answer({"outputs": self.outputs, "cotangents": self.placed(self.backward())})

    def jvp_of_vjp(self):
        found = self.backward()
        moving = self.moving()
        seeds = self.several("cotangent_tangents", self.outputs)
        moving.update({c.number: s for c, s in zip(self.cotangents, seeds) if c is not None and s is not None})
        moved = [zeros_like(f) if t is None else t for f, t in zip(found, jvp(found, moving))]
        return self.answer({"outputs": self.outputs, "cotangents": self.placed(found),
                            "cotangent_tangents": self.placed(moved)})


def run(request):
    mode = request["mode"]
    if mode not in MODES:
        raise Unsupported("mode", f"{mode} is not offered")
    with tracing(Trace()):
        return getattr(Question(request), mode)()


def describe():
    return {"etalon": 1, "name": "tracer", "version": "0.4", "operations": sorted(OPERATIONS),
            "dtypes": list(DTYPES), "modes": list(MODES), "rejects": False, "layouts": True, "deterministic": True,
            "generator": "philox4x32-10", "contract": {"name": "tracer"}}


def answer(request):
    if request.get("request") == "describe":
        return describe()
    name = request.get("id")
    try:
        if request.get("request") != "run":
            raise Unsupported("request", f"{request.get('request')} is not offered")
        return {"id": name, **run(request)}
    except Unsupported as gap:
        return {"id": name, "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Rejected as reason:
        return {"id": name, "rejected": str(reason)}
    except Exception as failure:  # the next request is served
        return {"id": name, "error": f"{type(failure).__name__}: {failure}"}
