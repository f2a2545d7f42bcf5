"""A backend of Protocol 1 that answers each operation in one named way: python3 backend.py NAME,…"""
import base64
import json
import sys

import numpy as np

from arithmetic import Kit, Unsupported, need, number
from table import VARIANTS

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
NAMES = {np.dtype(T): name for name, T in DTYPES.items()}


def decoded(t):
    need("strides" not in t and "offset" not in t, "layout", "only dense tensors are offered")
    return np.frombuffer(base64.b64decode(t["data"]), DTYPES[t["dtype"]]).reshape(t["shape"])


def encoded(x, T):
    x = np.asarray(x)
    if x.dtype.kind == "f" and x.dtype != np.dtype(T):
        raise TypeError(f"a result of {x.dtype} where {np.dtype(T)} was computed")
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()}


def listed(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]


def run(request, variants):
    program = request["program"]
    need(len(program["calls"]) == 1, "request", "one call at a time")
    call = program["calls"][0]
    variant = variants[call["operation"]]
    attributes = {name: number(value) for name, value in call["attributes"].items()}
    inputs = [decoded(t) for t in request["inputs"]]
    T = next((x.dtype.type for x in inputs if x.dtype.kind == "f"), None)
    need(T is not None, "dtype", "reals only")
    k = Kit(T)
    places = {declared["name"]: i for i, declared in enumerate(program["inputs"])}
    at = [None if name is None else places[name] for name in call["operands"]]
    x = [None if i is None else inputs[i] for i in at]
    y = listed(variant.value(k, attributes, *x))
    answer = {"id": request["id"], "outputs": [encoded(v, T) for v in y]}
    if request["mode"] == "jvp":
        need(variant.jvp is not None, "mode", "no formula of its own")
        given = request.get("tangents") or [None] * len(inputs)
        dx = [None if i is None else decoded(given[i]) if given[i] else np.zeros_like(inputs[i]) for i in at]
        answer["tangents"] = [encoded(v, T) for v in listed(variant.jvp(k, attributes, x, y, dx))]
    if request["mode"] == "vjp":
        need(variant.vjp is not None, "mode", "no formula of its own")
        given = request.get("cotangents") or [None] * len(y)
        g = [decoded(s) if s else np.zeros_like(v) for s, v in zip(given, y)]
        found = listed(variant.vjp(k, attributes, x, y, g[0] if len(g) == 1 else g))
        wrt = request.get("wrt") or []
        marked = {i for i, w in enumerate(wrt) if w is True} | {w for w in wrt if not isinstance(w, bool)}
        answer["cotangents"] = [encoded(np.broadcast_to(found[at.index(i)], inputs[i].shape), T) if i in marked else None
                                for i in range(len(inputs))]
    return answer


def reply(request, variants):
    if request["request"] == "describe":
        return {"etalon": 1, "name": "variants", "version": "1", "operations": sorted(variants), "dtypes": list(DTYPES),
                "modes": ["forward", "jvp", "vjp"], "layouts": False, "running_attributes": False}
    try:
        return run(request, variants)
    except Unsupported as gap:
        return {"id": request["id"], "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request["id"], "error": f"{type(failure).__name__}: {failure}"}


np.seterr(all="ignore")
if __name__ == "__main__":
    asked = {VARIANTS[name].operation: VARIANTS[name] for name in sys.argv[1].split(",")}
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line), asked)), flush=True)
