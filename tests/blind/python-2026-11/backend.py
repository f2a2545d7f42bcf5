"""A NumPy backend of Protocol 1 with derivatives of both modes. ETALON_BLIND=NAME switches a planted defect on."""
import base64
import json
import sys

import numpy as np

import elementwise
import linear
import losses
import normalisation
import optimizers
import reductions
import sequences
import shape
import windows
from core import ARRAYS, NAMES, STORE, Tape, Unsupported, Value, need, real

INNER = {"bias", "mse_each", "l1_each", "huber_each", "smooth_l1_each", "hinge_each", "kl_each", "softplus_plus",
         "softplus_minus", "pick", "store"}
RULES = {"store": STORE}
for part in (elementwise, reductions, shape, linear, normalisation, losses, windows, sequences, optimizers):
    RULES.update(part.RULES)
OPERATIONS = sorted(set(RULES) - INNER)
VALUES_ONLY = {"clip_by_norm"}  # its factor is not recorded


def decoded(t):
    need(t["dtype"] in ARRAYS, "dtype", f"{t['dtype']} is not offered")
    need("strides" not in t and "offset" not in t, "layout", "only dense tensors are offered")
    return np.frombuffer(base64.b64decode(t["data"]), np.dtype(ARRAYS[t["dtype"]]).newbyteorder("<")).reshape(t["shape"])


def encoded(x, dtype=None):
    x = np.asarray(x)
    x = x.astype(ARRAYS[dtype]) if dtype else x
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": base64.b64encode(x.tobytes()).decode()}


def working(x):
    return x.astype(np.float64) if real(x) else x.astype(x.dtype.newbyteorder("="))


def plain(v):
    """An attribute whose number came as a string."""
    if v in ("nan", "inf", "-inf"):
        return float(v)
    return int(v) if isinstance(v, str) and v.lstrip("-").isdigit() else v


def place_axes(name, a, operands):
    """Axes counted from the start; those of several ranks stay as they are."""
    if name == "masked_softmax" or not operands:
        return
    rank = max(1, len(operands[0].shape) + (name in ("stack", "one_hot")))
    for key in ("axis", "axis1", "axis2", "axes", "permutation"):
        if key in a:
            a[key] = [i % rank for i in a[key]] if isinstance(a[key], list) else a[key] % rank


class Run:
    """A program on a tape: values by name, and the element type of each."""

    def __init__(self, request):
        self.request, self.mode, self.program = request, request["mode"], request["program"]
        need(self.mode in ("forward", "jvp", "vjp"), "mode", f"{self.mode} is not offered")
        self.tape = Tape(RULES, self.mode)
        self.values, self.types, self.inputs = {}, {}, []
        tangents = request.get("tangents") or []
        for i, (declared, given) in enumerate(zip(self.program["inputs"], request["inputs"])):
            value = Value(self.tape, working(decoded(given)))
            if self.mode == "jvp" and i < len(tangents) and tangents[i]:
                value.tangent = working(decoded(tangents[i]))
            self.inputs.append(value)
            self.bind(declared["name"], value, given["dtype"])
        for call in self.program["calls"]:
            self.call(call)

    def bind(self, name, value, dtype):
        self.values[name], self.types[name] = value, dtype

    def call(self, call):
        name = call.get("operation")
        need(name in OPERATIONS, "operation", f"{name} is not offered")
        need(self.mode == "forward" or name not in VALUES_ONLY, "mode", f"{name} has no derivative here")
        a = {}
        for key, v in call["attributes"].items():
            need(not isinstance(v, dict), "attribute", "attributes are numbers here")
            a[key] = plain(v)
        operands = [None if n is None else self.values[n] for n in call["operands"]]
        place_axes(name, a, operands)
        stored = a.get("dtype") or next((self.types[n] for n in call["operands"] if n and self.types[n] in ("f32", "f64")), None)
        for result, value in zip(call["results"], self.tape.all(name, a, *operands)):
            if real(value.array):
                value = self.tape.one("store", {"dtype": stored}, value)
            self.bind(result, value, stored if real(value.array) else NAMES[value.array.dtype])

    def answer(self):
        outputs = self.program["outputs"]
        found = {"id": self.request["id"], "outputs": [self.encoded(n, self.values[n].array) for n in outputs]}
        if self.mode == "jvp":
            found["tangents"] = [self.encoded(n, self.tangent(self.values[n])) if real(self.values[n].array) else None
                                 for n in outputs]
        if self.mode == "vjp":
            found["cotangents"] = self.cotangents(outputs)
        return found

    def encoded(self, name, x):
        dtype = self.types[name]
        return encoded(np.broadcast_to(x, self.values[name].shape), dtype if dtype in ("f32", "f64") else None)

    def tangent(self, value):
        return np.zeros(value.shape) if value.tangent is None else value.tangent

    def cotangents(self, outputs):
        for name, seed in zip(outputs, self.request.get("cotangents") or []):
            if seed:
                value, g = self.values[name], working(decoded(seed))
                value.cotangent = g if value.cotangent is None else value.cotangent + g
        self.tape.back()
        wrt = self.request.get("wrt") or []
        marked = {i for i, w in enumerate(wrt) if w is True} | {w for w in wrt if w is not True and w is not False}
        return [self.cotangent(d["name"], v) if i in marked else None
                for i, (d, v) in enumerate(zip(self.program["inputs"], self.inputs))]

    def cotangent(self, name, value):
        return self.encoded(name, np.zeros(value.shape) if value.cotangent is None else value.cotangent)


def answer(request):
    if request.get("request") == "describe":
        return {"etalon": 1, "name": "blind NumPy", "version": np.__version__, "operations": OPERATIONS, "dtypes": list(ARRAYS),
                "modes": ["forward", "jvp", "vjp"], "rejects": False, "layouts": False, "fuses": False,
                "contract": {"name": "NumPy in f64", "default_function": {"k0": 4.0}}}
    try:
        return Run(request).answer()
    except Unsupported as gap:
        return {"id": request.get("id"), "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request.get("id"), "error": f"{type(failure).__name__}: {failure}"}


np.seterr(all="ignore")
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
