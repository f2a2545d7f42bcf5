"""Asks every witness of defects.json without and with its defect, and wants different answers. Needs no Etalon."""
import base64
import json
import pathlib
import sys

import numpy as np

import backend
import core

DEFECTS = json.loads((pathlib.Path(__file__).parent / "defects.json").read_text())


def tensor(given):
    """{"f32": nested lists} as a tensor of the protocol; a shape may follow where lists cannot say it."""
    (name, data), = ((k, v) for k, v in given.items() if k != "shape")
    array = np.array(data, dtype=object)
    flat = [float(v) if isinstance(v, str) and name[0] == "f" else int(v) if isinstance(v, str) else v for v in array.ravel()]
    shape = given.get("shape", array.shape)
    return backend.encoded(np.array(flat, core.ARRAYS[name]).reshape(shape))


def counted(t, scale):
    """1, 2, 3, … in the form of a tensor: seeds that a witness does not state."""
    x = np.frombuffer(base64.b64decode(t["data"]), core.ARRAYS[t["dtype"]])
    return {**t, "data": base64.b64encode((scale * (1 + np.arange(x.size))).astype(x.dtype).tobytes()).decode()}


def request(w):
    """A witness as a request: one call, or the calls that it states."""
    inputs = [tensor(x) for x in w["operands"] if x]
    names = iter([f"x{i}" for i in range(len(inputs))])
    declared = [{"name": f"x{i}", "dtype": t["dtype"], "shape": t["shape"]} for i, t in enumerate(inputs)]
    calls = w.get("calls") or [{"operation": w["operation"], "operands": [next(names) if x else None for x in w["operands"]],
                                "attributes": w.get("attributes", {}), "results": [f"y{i}" for i in range(w.get("results", 1))]}]
    outputs = w.get("outputs") or [r for call in calls for r in call["results"]]
    asked = {"request": "run", "id": "w", "mode": "forward", "inputs": inputs,
             "program": {"inputs": declared, "calls": calls, "outputs": outputs}}
    wrt = [t["dtype"][0] == "f" for t in inputs]
    if w["mode"] == "jvp":
        given = w.get("seeds") or [None] * len(inputs)
        asked.update(mode="jvp", wrt=wrt, tangents=[(tensor(s) if s else counted(t, 1)) if k else None
                                                    for t, k, s in zip(inputs, wrt, given)])
    if w["mode"] == "vjp":
        found = answered(asked, "")["outputs"]
        given = w.get("seeds") or [None] * len(found)
        asked.update(mode="vjp", wrt=wrt, cotangents=[(tensor(s) if s else counted(t, 1)) if t["dtype"][0] == "f" else None
                                                      for t, s in zip(found, given)])
    return asked


def answered(asked, name):
    core.PLANTED = name
    found = backend.answer(asked)
    core.PLANTED = ""
    return found


def arrays(found):
    return [np.frombuffer(base64.b64decode(t["data"]), core.ARRAYS[t["dtype"]])
            for part in ("outputs", "tangents", "cotangents") for t in found.get(part, []) if t]


def differs(x, y, exactly):
    """Beyond any rounding; `exactly` where the definition admits one answer: then a unit or a sign of zero counts."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return True
    if exactly or x.dtype.kind != "f":
        return x.tobytes() != y.tobytes()
    rounding = 1e-5 if x.dtype == np.float32 else 1e-10
    x, y = x.astype(float), y.astype(float)
    with np.errstate(all="ignore"):
        far = np.abs(x - y) > rounding * np.maximum(np.abs(x), np.abs(y))
    special = (np.isnan(x) != np.isnan(y)) | (np.isinf(x) != np.isinf(y))
    return bool(np.any(far | special))


def convicts(defect):
    """Whether the witness's last request is answered otherwise with the defect; None where the sound answer is no answer."""
    both = []
    for name in ("", defect["name"]):
        core.CACHE.clear()
        for w in [*defect["witness"].get("before", []), defect["witness"]]:
            found = answered(request({"operation": defect["operation"], "mode": defect["mode"], **w}), name)
        both.append(found)
    if "outputs" not in both[0]:
        return None, both[0]
    if "outputs" not in both[1]:
        return True, both[1]
    return any(differs(x, y, defect["witness"].get("exact")) for x, y in zip(*map(arrays, both))), both[1]


if __name__ == "__main__":
    names = [d["name"] for d in DEFECTS]
    sources = "".join(p.read_text() for p in pathlib.Path(__file__).parent.glob("*.py") if p.name != "selftest.py")
    faults = [f"{n}: listed twice" for n in names if names.count(n) > 1]
    faults += [f"{n}: planted nowhere" for n in names if f'planted("{n}")' not in sources]
    faults += [f"{n}: not listed" for n in set(__import__("re").findall(r'planted\("(\w+)"\)', sources)) - set(names)]
    for d in DEFECTS:
        shown, found = convicts(d)
        if not shown:
            faults.append(f"{d['name']}: " + ("no sound answer: " + json.dumps(found)[:200] if shown is None else "no difference"))
    print("\n".join(faults + [f"{len(names)} defects, {len(faults)} faults"]))
    sys.exit(1 if faults or len(names) < 64 else 0)
