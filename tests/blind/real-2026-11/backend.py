"""An honest NumPy backend of Protocol 1. ETALON_BLIND=NAME gives it one defect of defects.json."""
import base64
import json
import os
import sys

import numpy as np

import defects
from operation import NUMBERS, Call, Unsupported, need
from table import OPERATIONS

NAMES = {np.dtype(code): name for name, code in NUMBERS.items()}
TABLE = defects.planted(dict(OPERATIONS), os.environ.get("ETALON_BLIND", ""))


def decoded(t):
    need(t["dtype"] in NUMBERS, "dtype", f"{t['dtype']} is not offered")
    code = np.dtype(NUMBERS[t["dtype"]]).newbyteorder("<")
    buffer = np.frombuffer(base64.b64decode(t["data"]), code)
    if "strides" not in t and "offset" not in t:
        return buffer.reshape(t["shape"]), None
    offset, shape = t.get("offset", 0), t["shape"]
    strides = t.get("strides") or [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
    places = np.full(shape, offset, np.int64)
    for axis, stride in enumerate(strides):
        steps = np.arange(shape[axis]) * stride
        places = places + steps.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    taken = buffer[places] if places.size else np.zeros(shape, code)
    return taken, {"buffer": buffer, "offset": offset, "strides": strides}


def encoded(x, dtype):
    x = np.asarray(x)
    data = base64.b64encode(x.astype(NUMBERS[dtype]).tobytes())
    return {"dtype": dtype, "shape": list(x.shape), "data": data.decode()}


def working(x, dtype):
    """Reals are computed in f64 and rounded to their own type whenever a call stores its results."""
    return x.astype(np.float64) if dtype in ("f32", "f64") else x.astype(NUMBERS[dtype])


def attributes(given):
    read = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
    late = any(isinstance(v, dict) for v in given.values())
    need(not late, "attribute", "attributes known at run time only are not offered")
    return {k: read.get(v, v) if isinstance(v, str) else v for k, v in given.items()}


class Run:
    def __init__(self, request):
        self.mode, self.program = request["mode"], request["program"]
        need(self.mode in ("forward", "jvp", "vjp"), "mode", f"{self.mode} is not offered")
        self.inputs = self.program["inputs"]
        self.values, self.types, self.layouts, self.calls, self.makers = {}, {}, {}, [], {}
        for declared, t in zip(self.inputs, request["inputs"]):
            name = declared["name"]
            x, self.layouts[name] = decoded(t)
            self.types[name] = t["dtype"]
            self.values[name] = working(x, t["dtype"])
        self.tangents = {}
        for declared, t in zip(self.inputs, request.get("tangents") or []):
            if t is not None:
                self.tangents[declared["name"]] = working(decoded(t)[0], t["dtype"])
        for call in self.program["calls"]:
            self.step(call)

    def step(self, given):
        name = given.get("operation")
        need(name in TABLE, "operation", f"{name} is not offered")
        operands = given["operands"]
        x = [None if o is None else self.values[o] for o in operands]
        types, layouts = ([t.get(o) for o in operands] for t in (self.types, self.layouts))
        call = Call(name, operands, types, layouts, self.makers)
        a, operation = attributes(given["attributes"]), TABLE[name]
        if self.mode == "jvp":
            call.tangents = [self.tangents.get(o) for o in operands]
        found = operation.forward(a, call, *x)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        for result, y in zip(given["results"], found):
            y = np.asarray(y)
            kind = NAMES[y.dtype]
            if name != "cast" and y.dtype == np.float64:
                kind = next(t for t in call.types if t in ("f32", "f64"))
            self.types[result] = kind
            self.values[result] = working(y.astype(NUMBERS[kind]), kind)
            self.makers[result] = (name, operands)
        if self.mode == "jvp" and any(t is not None for t in call.tangents):
            need(operation.jvp, "mode", f"{name} has no tangent here")
            result = given["results"][0]
            dy = operation.jvp(a, call, x, self.values[result], call.tangents)
            self.tangents[result] = dy.astype(NUMBERS[self.types[result]]).astype(np.float64)
        self.calls.append((given, a, call, x))

    def outputs(self):
        return [encoded(self.values[o], self.types[o]) for o in self.program["outputs"]]

    def output_tangents(self):
        real = [o if self.types[o] in ("f32", "f64") else None for o in self.program["outputs"]]
        return [o and encoded(self.tangents.get(o, np.zeros_like(self.values[o])), self.types[o]) for o in real]

    def cotangents(self, request):
        marked = request.get("wrt") or []
        if all(isinstance(m, bool) for m in marked):
            marked = [i for i, m in enumerate(marked) if m]
        wanted = {self.inputs[i]["name"] for i in marked}
        found = {}
        for output, t in zip(self.program["outputs"], request.get("cotangents") or []):
            if t is not None:
                g = working(decoded(t)[0], t["dtype"])
                found[output] = found[output] + g if output in found else g
        live = set(wanted)
        for given, *_ in self.calls:
            if live & set(given["operands"]):
                live |= set(given["results"])
        for given, a, call, x in reversed(self.calls):
            if not live & set(given["operands"]) or not any(r in found for r in given["results"]):
                continue
            operation = TABLE[given["operation"]]
            need(operation.vjp and len(given["results"]) == 1, "mode", f"{given['operation']} has no cotangent here")
            y = self.values[given["results"][0]]
            for operand, g in zip(given["operands"], operation.vjp(a, call, x, y, found[given["results"][0]])):
                if g is not None and operand is not None:
                    found[operand] = found[operand] + g if operand in found else g
        names = [i["name"] for i in self.inputs]
        return [encoded(found.get(n, np.zeros_like(self.values[n])), self.types[n]) if n in wanted else None
                for n in names]


def answer(request):
    if request["request"] == "describe":
        contract = {"name": "NumPy in f64", "default_function": {"k0": 4.0}, "nan_of_extrema": "propagate"}
        return {"etalon": 1, "name": "transcribed", "version": "1", "operations": sorted(TABLE), "dtypes": list(NUMBERS),
                "modes": ["forward", "jvp", "vjp"], "rejects": False, "deterministic": True, "contract": contract}
    try:
        run = Run(request)
        said = {"id": request["id"], "outputs": run.outputs()}
        if run.mode == "jvp":
            said["tangents"] = run.output_tangents()
        if run.mode == "vjp":
            said["cotangents"] = run.cotangents(request)
        return said
    except Unsupported as gap:
        return {"id": request["id"], "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request["id"], "error": f"{type(failure).__name__}: {failure}"}


np.seterr(all="ignore")
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
