"""Protocol 1: tensors in and out, and the answer to a request."""
import base64
import math

import numpy as np

from . import views
from .registry import NAMES, STORED, TABLE, Unsupported
from . import (convolution, elementwise, indexing, losses, movement, networks, normal,  # noqa: F401 (the tables)
               optimizers, pooling, products, reductions, schedules)
from .program import Run

CODES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "?"}
MODES = ("forward", "jvp", "vjp")


def decoded(t):
    if t["dtype"] not in CODES:
        raise Unsupported("dtype", f"{t['dtype']} is not offered")
    data = np.frombuffer(base64.b64decode(t["data"]), CODES[t["dtype"]])
    shape = list(t["shape"])
    if t.get("strides") is None and t.get("offset") is None:
        if data.size != math.prod(shape):
            raise ValueError(f"expected {math.prod(shape)} elements, found {data.size}")
        return views.View(data, shape, views.dense_strides(shape))
    strides = t.get("strides")
    return views.View(data, shape, views.dense_strides(shape) if strides is None else strides, t.get("offset") or 0)


def encoded(v):
    if v is None:
        return None
    a = v.array() if isinstance(v, views.View) else np.asarray(v)
    data = np.ascontiguousarray(a).astype(CODES[NAMES[a.dtype]]).tobytes()
    return {"dtype": NAMES[a.dtype], "shape": list(v.shape), "data": base64.b64encode(data).decode()}


def marked(request, inputs):
    wrt = request.get("wrt")
    if wrt is None:
        return [t is not None for t in request.get("tangents") or [None] * len(inputs)]
    if wrt and isinstance(wrt[0], bool):
        return list(wrt)
    return [i in wrt for i in range(len(inputs))]


def answered(request):
    program = request["program"]
    mode = request["mode"]
    if mode not in MODES:
        raise Unsupported("mode", f"{mode} is not offered")
    for key in ("updates", "buffers", "definitions"):
        if program.get(key):
            raise Unsupported("request", f"{key} are not offered")
    for call in program["calls"]:
        if call.get("operation") not in TABLE or call["operation"].startswith("_"):
            raise Unsupported("operation", f"{call.get('operation')} is not offered")
    inputs = [decoded(t) for t in request["inputs"]]
    run = Run(program, inputs, mode == "forward")
    if mode == "forward":
        return {"outputs": [encoded(v) for v in run.forward()]}
    marks = marked(request, inputs)
    names = [d["name"] for d in program["inputs"]]
    if mode == "jvp":
        given = request.get("tangents") or [None] * len(inputs)
        dots = {n: decoded(t) for n, t, m in zip(names, given, marks) if m and t is not None}
        outputs, tangents = run.jvp(dots)
        found = [None if v.dtype.kind != "f" else encoded(np.zeros(v.shape, v.dtype) if d is None else d)
                 for v, d in zip(outputs, tangents)]
        return {"outputs": [encoded(v) for v in outputs], "tangents": found}
    given = request.get("cotangents") or [None] * len(program["outputs"])
    seeds = [None if t is None else np.array(decoded(t).array()) for t in given]
    outputs, grads = run.vjp(seeds, {n for n, m in zip(names, marks) if m})
    found = [None if not m else encoded(grads.get(n, np.zeros(v.shape, v.dtype)))
             for n, m, v in zip(names, marks, inputs)]
    return {"outputs": [encoded(v) for v in outputs], "cotangents": found}


def describe():
    return {"etalon": 1, "name": "sluice", "version": "0.4", "operations": sorted(n for n in TABLE if n[0] != "_"),
            "dtypes": list(STORED), "modes": list(MODES), "rejects": False, "layouts": True,
            "running_attributes": False, "contract": {"name": "sluice on NumPy", "nan_of_extrema": "propagate"}}


def answer(request):
    if request.get("request") == "describe":
        return describe()
    head = {"id": request.get("id")}
    try:
        if request.get("request") != "run":
            raise Unsupported("request", f"{request.get('request')} is not offered")
        return {**head, **answered(request)}
    except Unsupported as gap:
        return {**head, "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {**head, "error": f"{type(failure).__name__}: {failure}"}
