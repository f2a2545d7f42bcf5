"""Asks every witness without and with its defect: the sound answer is the expected one, the other differs. Needs no Etalon.

With the command of an `etalon` as argument it also asks the reference for what is expected, and for its bounds."""
import base64
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

import backend
import core
import shape

FOLDER = pathlib.Path(__file__).parent
DEFECTS = json.loads((FOLDER / "defects.json").read_text())
PARTS = ("outputs", "tangents", "cotangents")
SHOWN = 12  # numbers of a tensor that `expected` holds


def tensor(given):
    """{"f32": nested lists}, one number for a whole "shape", or "first" and "step", as a tensor of the protocol."""
    (name, data), = ((k, v) for k, v in given.items() if k != "shape")
    extents = given.get("shape")
    if isinstance(data, dict):
        data = data["first"] + data["step"] * np.arange(int(np.prod(extents)))
    elif extents:
        data = np.full(extents, data)
    array = np.array(data, dtype=object)
    flat = [float(v) if name[0] == "f" else int(v) for v in array.ravel()]
    extents = array.shape if extents is None else extents
    return backend.encoded(np.array(flat, core.ARRAYS[name]).reshape(extents), name, extents)


def decoded(t):
    return np.frombuffer(base64.b64decode(t["data"]), core.ARRAYS[t["dtype"]])


def counted(t):
    """1, 2, 3, …: seeds that a witness does not state."""
    x = (1 + np.arange(decoded(t).size)).reshape(t["shape"])
    return backend.encoded(x, t["dtype"], t["shape"])


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
        asked.update(mode="jvp", wrt=wrt, tangents=[counted(t) if k else None for t, k in zip(inputs, wrt)])
    if w["mode"] == "vjp":
        found = answered(asked, "")["outputs"]
        asked.update(mode="vjp", wrt=wrt, cotangents=[counted(t) if t["dtype"][0] == "f" else None for t in found])
    return asked


def answered(asked, name):
    core.PLANTED = name
    found = backend.answer(asked)
    core.PLANTED = ""
    return found


def arrays(found):
    return [decoded(t) for part in PARTS for t in found.get(part, []) if t]


def differs(x, y):
    """Beyond any rounding."""
    if x.shape != y.shape or x.dtype != y.dtype:
        return True
    if x.dtype.kind != "f":
        return bool(np.any(x != y))
    rounding = 1e-5 if x.dtype == np.float32 else 1e-13
    x, y = x.astype(float), y.astype(float)
    with np.errstate(all="ignore"):
        far = np.abs(x - y) > rounding * np.maximum(np.abs(x), np.abs(y))
    return bool(np.any(far | (np.isnan(x) != np.isnan(y)) | (np.isinf(x) != np.isinf(y)) | (np.isinf(x) & (x != y))))


def written(x):
    """The first numbers of an array, as defects.json has them."""
    return [v if isinstance(v, (bool, int)) or np.isfinite(v) else str(v) for v in x[:SHOWN].tolist()]


def asked_of(defect):
    w = defect["witness"]
    return [request({"operation": defect["operation"], "mode": defect["mode"], **v}) for v in [*w.get("before", []), w]]


def both(defect):
    """The answers to the witness's last request without and with the defect."""
    requests, found = asked_of(defect), []
    for name in ("", defect["name"]):
        core.CACHE.clear()
        shape.POOL.clear()
        found.append([answered(asked, name) for asked in requests][-1])
    return requests[-1], found


def faults_of(defect):
    _, (sound, wrong) = both(defect)
    if "outputs" not in sound:
        return ["no sound answer: " + json.dumps(sound)[:200]]
    found, expected = arrays(sound), defect["expected"]
    faults = []
    if len(found) != len(expected):
        return [f"{len(expected)} tensors are expected, {len(found)} come"]
    for k, (x, e) in enumerate(zip(found, expected)):
        y = np.array([float(v) if isinstance(v, str) else v for v in e], x.dtype)
        if differs(x[:SHOWN], y):
            faults.append(f"tensor {k} of the sound answer is {written(x)}, expected is {e}")
    if "outputs" in wrong and not any(differs(x, y) for x, y in zip(found, arrays(wrong))):
        faults.append("no difference")
    return faults


def reference(command):
    """What the reference says, with bounds: sets `expected`, and wants the wrong answer outside and the sound one inside."""
    pairs = [both(d) for d in DEFECTS]
    contract = backend.answer({"request": "describe"})["contract"]
    lines = "\n".join(json.dumps({**asked, "bounds": contract}) for asked, _ in pairs) + "\n"
    out = subprocess.run([*command.split(), "serve", "--backend", "reference"], input=lines, capture_output=True, text=True).stdout
    faults = []
    for d, (_, (sound, wrong)), line in zip(DEFECTS, pairs, out.splitlines()):
        said = json.loads(line)
        if "outputs" not in said:
            faults.append(f"{d['name']}: the reference says {line[:300]}")
            continue
        d["expected"] = [written(x) for x in arrays(said)]
        if outside(said, sound):
            faults.append(f"{d['name']}: the sound answer is outside: {outside(said, sound)}")
        if "outputs" in wrong and not outside(said, wrong):
            faults.append(f"{d['name']}: the definition admits the wrong answer")
    return faults


def outside(said, found):
    """The first element beyond the bounds that the reference gives."""
    for part in PARTS:
        prefix = "" if part == "outputs" else part + "_"
        for k, t in enumerate(found.get(part, [])):
            if not t:
                continue
            low, high = (said.get(prefix + end, said.get(end))[k] for end in ("lower", "upper"))
            flags = {f["element"]: f["admits"] for f in said[prefix + "flags"][k]}
            right = decoded(said[part][k])
            if t["shape"] != said[part][k]["shape"]:
                return part, k, t["shape"]
            for e, x in enumerate(decoded(t)):
                if t["dtype"][0] != "f":
                    if x != right[e]:
                        return part, k, e, x, right[e]
                    continue
                admits = flags.get(e, [])
                named = "nan" if np.isnan(x) else "inf" if x == np.inf else "-inf" if x == -np.inf else None
                inside = "no number" not in admits and decoded(low)[e] <= x <= decoded(high)[e]
                if not (inside or "any" in admits or named in admits or (np.isnan(x) and np.isnan(right[e]))):
                    return part, k, e, x, decoded(low)[e], decoded(high)[e], admits
    return None


def main():
    if len(sys.argv) > 1:
        faults = reference(sys.argv[1])
        (FOLDER / "defects.json").write_text("[\n" + ",\n".join(json.dumps(d) for d in DEFECTS) + "\n]\n")
        print("\n".join(faults))
    names = [d["name"] for d in DEFECTS]
    sources = "".join(p.read_text() for p in FOLDER.glob("*.py") if p.name != "selftest.py")
    there = set(re.findall(r'planted\("(\w+)"\)', sources))
    faults = [f"{n}: listed twice" for n in set(names) if names.count(n) > 1]
    faults += [f"{n}: planted nowhere" for n in set(names) - there] + [f"{n}: not listed" for n in there - set(names)]
    for d in DEFECTS:
        faults += [f"{d['name']}: {fault}" for fault in faults_of(d)]
    print("\n".join(faults + [f"{len(names)} defects, {len(faults)} faults"]))
    return 1 if faults or len(names) < 75 else 0


if __name__ == "__main__":
    sys.exit(main())
