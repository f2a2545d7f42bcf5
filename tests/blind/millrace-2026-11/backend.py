"""Protocol 1 in front of millrace: one JSON object per line in, one out."""
import json
import sys

import numpy as np

from millrace import (attention, binary, cells, elementwise, indexing, losses, movement, norms, optimizers,  # noqa: F401
                      pooling, products, reductions, scans, schedules, windows)
from millrace import derive
from millrace.executor import Executor
from millrace.graph import Graph
from millrace.rule import OPS, need
from millrace.tensors import DTYPES, Unsupported, decoded, encoded

MODES = ("forward", "jvp", "vjp")


def description():
    return {"etalon": 1, "name": "millrace", "version": "2026.11", "operations": sorted(OPS), "dtypes": list(DTYPES),
            "modes": list(MODES), "rejects": False, "layouts": True, "running_attributes": True, "materialises": True,
            "contract": {"name": "millrace", "nan_of_extrema": "propagate"}}


def run(request):
    mode = request["mode"]
    need(mode in MODES, "mode", f"mode {mode} is not offered")
    program = request["program"]
    for call in program["calls"]:
        need("operation" in call, "request", "calls only")
    graph = Graph(program)
    views = [decoded(t) for t in request["inputs"]]
    if mode == "forward":
        given = None
    elif mode == "jvp":
        given = [decoded(t).array() if t is not None else None for t in request.get("tangents") or [None] * len(views)]
    else:
        given = [decoded(t).array() if t is not None else None
                 for t in request.get("cotangents") or [None] * len(graph.outputs)]
    graph.simplify()
    executor = Executor(graph, mode)
    for v, view in zip(graph.inputs, views):
        executor.bind(v, view)
        v.keep = True
    executor.run()
    answer = {"outputs": [encoded(v.dtype, v.view.array()) for v in graph.outputs]}
    if mode == "jvp":
        flags = derive.marked(request, graph.inputs)
        moving = derive.forward_mode(executor, graph, [t if f else None for t, f in zip(given, flags)])
        answer["tangents"] = [None if t is None else encoded(v.dtype, t) for v, t in zip(graph.outputs, moving)]
    if mode == "vjp":
        flags = derive.marked(request, graph.inputs)
        pulled = derive.reverse_mode(executor, graph, flags, given)
        answer["cotangents"] = [None if g is None else encoded(v.dtype, g) for v, g in zip(graph.inputs, pulled)]
    return answer


def answered(line):
    try:
        request = json.loads(line)
        kind = request.get("request")
    except Exception as failure:
        return {"id": None, "error": f"{type(failure).__name__}: {failure}"}
    if kind == "describe":
        return description()
    try:
        need(kind == "run", "request", f"{kind} is not offered")
        return {"id": request["id"], **run(request)}
    except Unsupported as gap:
        return {"id": request.get("id"), "unsupported": {"what": gap.args[0], "why": gap.args[1]}}
    except Exception as failure:
        return {"id": request.get("id"), "error": f"{type(failure).__name__}: {failure}"}


np.seterr(all="ignore")
if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answered(line)), flush=True)
