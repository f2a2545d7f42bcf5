"""NumPy as a backend of Protocol 1, values only; docs/writing-an-adapter.md builds this file step by step."""
import base64
import json
import sys

import numpy as np

DTYPES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "?"}


class Unsupported(Exception):
    """What is not offered (operation, dtype, mode, attribute, shape, layout or request), and why."""


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


def decoded(t):
    need(t["dtype"] in DTYPES, "dtype", f"{t['dtype']} is not offered")
    need("strides" not in t and "offset" not in t, "layout", "only dense tensors are offered")
    return np.frombuffer(base64.b64decode(t["data"]), DTYPES[t["dtype"]]).reshape(t["shape"])


def encoded(x):
    name = {np.dtype(code): name for name, code in DTYPES.items()}[x.dtype]
    return {"dtype": name, "shape": list(x.shape), "data": base64.b64encode(x.tobytes()).decode()}


def number(value):
    return float(value) if value in ("nan", "inf", "-inf") else value


def axes(a, x):
    return tuple(axis % max(1, x.ndim) for axis in a["axes"])


def whole(f):
    def function(a, x):
        need(x.dtype.kind == "f", "dtype", "NumPy answers integers with f64")
        return f(x)
    return function


OPERATIONS = {name: lambda a, *x, f=getattr(np, f): f(*x) for name, f in {
    "neg": "negative", "abs": "abs", "sign": "sign", "square": "square", "sqrt": "sqrt", "reciprocal": "reciprocal",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log1p": "log1p", "sin": "sin",
    "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "round": "round",
    "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "logical_not": "logical_not", "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power",
    "maximum": "maximum", "minimum": "minimum", "atan2": "arctan2", "where": "where", "eq": "equal", "ne": "not_equal",
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "matmul": "matmul", "dot": "dot", "outer": "outer"}.items()}
OPERATIONS.update({
    "sum": lambda a, x: np.sum(x, axes(a, x), x.dtype, keepdims=a["keepdims"]),
    "mean": lambda a, x: np.mean(x, axes(a, x), keepdims=a["keepdims"]),
    "max": lambda a, x: np.max(x, axes(a, x), keepdims=a["keepdims"]),
    "min": lambda a, x: np.min(x, axes(a, x), keepdims=a["keepdims"]),
    "clamp": lambda a, x: np.minimum(np.maximum(x, x.dtype.type(number(a["low"]))), x.dtype.type(number(a["high"]))),
    "scale": lambda a, x: x * x.dtype.type(number(a["by"])),
    "reshape": lambda a, x: np.reshape(x, a["shape"]),
    "transpose": lambda a, x: np.transpose(x, a["permutation"]),
    "broadcast_to": lambda a, x: np.broadcast_to(x, a["shape"]),
    "concat": lambda a, *x: np.concatenate(x, a["axis"]),
    "stack": lambda a, *x: np.stack(x, a["axis"]),
    "flip": lambda a, x: np.flip(x, axes(a, x)),
    "floor": whole(np.floor), "ceil": whole(np.ceil), "trunc": whole(np.trunc),
})


def run(request, inputs):
    need(request["mode"] == "forward", "mode", "NumPy has no derivatives")
    program = request["program"]
    values = {declared["name"]: x for declared, x in zip(program["inputs"], inputs)}
    for call in program["calls"]:
        need(call.get("operation") in OPERATIONS, "operation", f"{call.get('operation')} is not offered")
        found = OPERATIONS[call["operation"]](call["attributes"], *[values[name] for name in call["operands"]])
        values[call["results"][0]] = np.asanyarray(found)
    return [values[name] for name in program["outputs"]]


def answer(request):
    if request["request"] == "describe":
        return {"etalon": 1, "name": "NumPy", "version": np.__version__, "operations": sorted(OPERATIONS),
                "dtypes": list(DTYPES), "modes": ["forward"], "rejects": False, "layouts": False, "running_attributes": False,
                "contract": {"name": "NumPy on a CPU", "default_function": {"k0": 4.0}}}
    try:
        return {"id": request["id"], "outputs": [encoded(y) for y in run(request, map(decoded, request["inputs"]))]}
    except Unsupported as gap:
        return {"id": request["id"], "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request["id"], "error": f"{type(failure).__name__}: {failure}"}


np.seterr(all="ignore")
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
