"""Requests of Protocol 1 in few words: programs of arrays, and two processes to ask."""
import base64
import json
import os
import subprocess

import numpy as np

CODES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "?"}
NAMES = {np.dtype(code): name for name, code in CODES.items()}


def t(x):
    x = np.asarray(x)
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()}


def strided(buffer, shape, strides, offset):
    buffer = np.asarray(buffer)
    return {**t(buffer), "shape": list(shape), "strides": list(strides), "offset": offset}


def array(t):
    return np.frombuffer(base64.b64decode(t["data"]), CODES[t["dtype"]]).reshape(t["shape"])


class P:
    """A program: p.put adds an input, p.call a call; each gives the name of its value."""

    def __init__(self):
        self.inputs, self.tensors, self.calls, self.count = [], [], [], 0

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def put(self, x, **fields):
        x = x if isinstance(x, dict) else t(x)
        name = self.name("x")
        self.inputs.append({"name": name, "dtype": x["dtype"], "shape": x["shape"], **fields})
        self.tensors.append(x)
        return name

    def call(self, op, *operands, results=1, **attributes):
        names = [self.name("y") for _ in range(results)]
        self.calls.append({"operation": op, "operands": list(operands), "attributes": attributes, "results": names})
        return names[0] if results == 1 else names

    def request(self, outputs, mode="forward", wrt=None, tangents=None, cotangents=None, cotangent_tangents=None, id="w"):
        outputs = outputs if isinstance(outputs, list) else [outputs]
        r = {"request": "run", "id": id, "mode": mode, "program": {"inputs": self.inputs, "calls": self.calls, "outputs": outputs}, "inputs": self.tensors}
        if wrt is not None:
            r["wrt"] = wrt
        enc = lambda l: [None if x is None else x if isinstance(x, dict) else t(x) for x in l]
        for key, value in (("tangents", tangents), ("cotangents", cotangents), ("cotangent_tangents", cotangent_tangents)):
            if value is not None:
                r[key] = enc(value)
        return r


def answers(command, requests, blind=None, timeout=600):
    env = {k: v for k, v in os.environ.items() if k != "ETALON_BLIND"}
    if blind:
        env["ETALON_BLIND"] = blind
    text = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=env, timeout=timeout)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != len(requests):
        raise RuntimeError(f"{len(lines)} answers to {len(requests)} requests: {done.stderr[-500:]}")
    return lines


LISTS = ("outputs", "tangents", "cotangents", "cotangent_tangents")


def differences(a, b, tolerance=None):
    """Where answers a and b (b the right one) differ: (list, position, worst error in units of the tolerance)."""
    found = []
    for key in LISTS:
        if (key in a) != (key in b):
            found.append((key, -1, float("inf")))
            continue
        for k, (x, y) in enumerate(zip(a.get(key, []), b.get(key, []))):
            if (x is None) != (y is None):
                found.append((key, k, float("inf")))
                continue
            if x is None:
                continue
            if x["dtype"] != y["dtype"] or x["shape"] != y["shape"]:
                found.append((key, k, float("inf")))
                continue
            u, v = array(x), array(y)
            if u.dtype.kind != "f":
                if not np.array_equal(u, v):
                    found.append((key, k, float("inf")))
                continue
            eps = tolerance or (2e-5 if u.dtype == np.float32 else 1e-12)
            with np.errstate(all="ignore"):
                u, v = u.astype(np.float64), v.astype(np.float64)
                scale = np.maximum(np.abs(v), 1e-3 * (np.max(np.abs(v[np.isfinite(v)])) if np.isfinite(v).any() else 0.0))
                error = np.abs(u - v) / np.maximum(scale, 1e-300) / eps
                same = (u == v) | (np.isnan(u) & np.isnan(v))
                error = np.where(same, np.where((u == 0) & (np.signbit(u) != np.signbit(v)) & (key == "outputs"), np.inf, 0.0), np.where(np.isfinite(error), error, np.inf))
            if error.size and error.max() > 1:
                found.append((key, k, float(error.max())))
    return found
