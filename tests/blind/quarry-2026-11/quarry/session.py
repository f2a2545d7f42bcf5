"""Requests of Protocol 1: decoding, compilation of programs and their derivatives, answers."""
import base64
import json

import numpy as np

from quarry import lowering  # noqa: F401  (registers the operations)
from quarry.derive import jvp, vjp, zeros_like
from quarry.execute import Plan
from quarry.ir import variable
from quarry.passes import canonical, optimised
from quarry.words import Rejected, Unsupported
from quarry.lower import OPERATIONS, call
from quarry.views import View
from quarry.switch import defect

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


def lowered(program, env):
    """The calls of a program as one graph; the nodes of its outputs."""
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


class Compiled:
    """One program in one mode, differentiated, optimised and planned. It holds no numbers of a request."""

    def __init__(self, request):
        program = request["program"]
        for more in ("updates", "buffers", "definitions"):
            if program.get(more):
                raise Unsupported("request", f"{more} are not offered")
        if len(request["inputs"]) != len(program["inputs"]):
            raise ValueError("inputs: one tensor per input is wanted")
        self.entries, self.zeros, env = [], [], {}
        self.inputs = self.entered("inputs", request["inputs"])
        env = {declared["name"]: node for declared, node in zip(program["inputs"], self.inputs)}
        self.outputs = canonical(lowered(program, env))
        self.wrt = self.marked(request)
        fields = getattr(self, request["mode"])(request)
        self.layout = {name: [n is not None for n in listed] for name, listed in fields.items()}
        nodes = [n for listed in fields.values() for n in listed if n is not None]
        self.plan = Plan(optimised(nodes, len(self.outputs)))

    def entered(self, field, listed):
        """A node for each tensor of a field, which is bound to its numbers when the request is run."""
        nodes = []
        for i, t in enumerate(listed):
            if t is None:
                nodes.append(None)
                continue
            nodes.append(variable(t["shape"], dtype_of(t["dtype"])))
            self.entries.append((field, i, nodes[-1]))
        return nodes

    def several(self, request, field, beside):
        found = self.entered(field, request.get(field) or [None] * len(beside))
        return [None if f is None or not n.real else f for f, n in zip(found, beside)]

    def marked(self, request):
        wrt = request.get("wrt")
        if wrt is None:
            wrt = [t is not None for t in request.get("tangents") or []]
        if all(isinstance(w, bool) for w in wrt):
            wrt = [i for i, w in enumerate(wrt) if w]
        return [i for i in wrt if self.inputs[i].real]

    def moving(self, request):
        tangents = self.several(request, "tangents", self.inputs)
        return {self.inputs[i].number: tangents[i] for i in self.wrt if tangents[i] is not None}

    def placed(self, found):
        at = dict(zip(self.wrt, found))
        return [at.get(i) for i in range(len(self.inputs))]

    def zero(self, like):
        node = variable(like.shape, like.dtype)
        self.zeros.append(node)
        return node

    def forward(self, request):
        return {"outputs": self.outputs}

    def jvp(self, request):
        tangents = jvp(self.outputs, self.moving(request))
        tangents = [zeros_like(o) if t is None and o.real else t for o, t in zip(self.outputs, tangents)]
        return {"outputs": self.outputs, "tangents": tangents}

    def backward(self, request):
        self.seeds = self.several(request, "cotangents", self.outputs)
        if request["mode"] == "jvp_of_vjp":  # a cotangent that is absent is zero, but it may still move
            self.seeds = [self.zero(o) if c is None and o.real and not defect("absent_seed_cannot_move") else c
                          for c, o in zip(self.seeds, self.outputs)]
        return vjp(self.outputs, [self.inputs[i] for i in self.wrt], self.seeds)

    def vjp(self, request):
        return {"outputs": self.outputs, "cotangents": self.placed(self.backward(request))}

    def jvp_of_vjp(self, request):
        found = self.backward(request)
        moving = self.moving(request)
        seeds = self.several(request, "cotangent_tangents", self.outputs)
        moving.update({c.number: s for c, s in zip(self.seeds, seeds) if c is not None and s is not None})
        moved = [zeros_like(f) if t is None else t for f, t in zip(found, jvp(found, moving))]
        return {"outputs": self.outputs, "cotangents": self.placed(found),
                "cotangent_tangents": self.placed(moved)}

    def run(self, request):
        given = {node.number: View.of(np.zeros(node.shape, node.dtype)) for node in self.zeros}
        for field, i, node in self.entries:
            given[node.number] = decoded(request[field][i], f"{field}[{i}]")
        arrays = iter(self.plan.run(given))
        return {name: [encoded(next(arrays)) if there else None for there in listed]
                for name, listed in self.layout.items()}


_compiled = {}
KEPT = 64


def signature(request):
    """All that a compiled program depends on: the program, the mode, and which tensors are there, of what type."""
    there = {field: [None if t is None else (t["dtype"], t["shape"]) for t in request.get(field) or []]
             for field in ("inputs", "tangents", "cotangents", "cotangent_tangents")}
    return json.dumps([request["program"], request["mode"], request.get("wrt"), there])


def run(request):
    mode = request["mode"]
    if mode not in MODES:
        raise Unsupported("mode", f"{mode} is not offered")
    for declared, t in zip(request["program"]["inputs"], request["inputs"]):
        dtype_of(t["dtype"])
        if t["shape"] != declared["shape"] or t["dtype"] != declared["dtype"]:
            raise Rejected(f"input {declared['name']} is another tensor than declared")
    key = signature(request)
    if key not in _compiled:
        if len(_compiled) >= KEPT:
            _compiled.pop(next(iter(_compiled)))
        _compiled[key] = Compiled(request)
    return _compiled[key].run(request)


def describe():
    return {"etalon": 1, "name": "quarry", "version": "0.1", "operations": sorted(OPERATIONS),
            "dtypes": list(DTYPES), "modes": list(MODES), "rejects": False, "layouts": True, "deterministic": True,
            "generator": "philox4x32-10", "contract": {"name": "quarry"}}


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
