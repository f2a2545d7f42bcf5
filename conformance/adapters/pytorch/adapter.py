"""PyTorch as a backend of Protocol 1: one JSON object per line on stdin, one answer per line on stdout.

    etalon conform --backend 'exec:python3 conformance/adapters/pytorch/adapter.py'

It translates arguments and never repairs results. What PyTorch does not offer, or means otherwise, is answered
`unsupported` with the reason; what PyTorch refuses is answered `rejected` with PyTorch's own words."""
import importlib
import json
import pathlib
import sys
import warnings

import torch

import modes
import script
import tensors
from table import ROWS, Rejected, Unsupported

FOLDER = pathlib.Path(__file__).resolve().parent
FAMILIES = ("elementwise", "binary", "reductions", "shape", "indexing", "linear", "normalisation", "losses", "windows",
            "sequences", "optimizers", "schedules")


def describe():
    contract = json.loads((FOLDER / "contract.json").read_text())
    return {"etalon": 1, "name": "PyTorch", "version": torch.__version__, "operations": sorted(ROWS),
            "dtypes": list(tensors.DTYPES), "modes": list(modes.MODES), "contract": contract, "fuses": False,
            "materialises": True, "rejects": False, "running_attributes": False, "deterministic": True, "pipeline": 1, "scripts": True}


def answer(request):
    if request.get("request") == "describe":
        return describe()
    reply = {"id": request.get("id")}
    try:
        if request.get("request") == "script":
            reply["script"] = script.script(request)
        elif request.get("request") == "run":
            reply.update(modes.run(request))
        else:
            raise Unsupported("request", f"{request.get('request')} is not offered; there are describe, run and script")
    except Unsupported as reason:
        reply["unsupported"] = {"what": reason.what, "why": reason.why}
    except Rejected as reason:
        reply["rejected"] = str(reason)
    except Exception as failure:  # a malformed request, or a fault of this adapter: the next request is served
        reply["error"] = f"{type(failure).__name__}: {failure}"
    return reply


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for family in FAMILIES:
        importlib.import_module(family)
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
