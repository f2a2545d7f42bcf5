"""Asks every witness of defects.json without and with its defect: the sound answer is the expected one, the other is not.

Needs no Etalon: the expected numbers stand in the list. `selftest.py PROGRAM [NAME…]`
"""
import base64
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CODES = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "bool": "?"}


def numbers(given):
    """A list, or a rule for one: n numbers from first by step, or n times fill, but for those at some places."""
    if isinstance(given, list):
        flat = []
        for v in given:
            flat += numbers(v) if isinstance(v, list) else [v]
        return flat
    if "fill" in given:
        flat = [given["fill"]] * given["n"]
    else:
        flat = [given["first"] + given["step"] * i for i in range(given["n"])]
    for place, value in given.get("at", {}).items():
        flat[int(place)] = value
    return flat


def extents(given):
    return [len(given)] + extents(given[0]) if isinstance(given, list) and given else [0] if isinstance(given, list) else []


def tensor(given):
    """{"f32": numbers}; a shape may follow where lists cannot say it, strides and an offset too."""
    (name, data), = ((k, v) for k, v in given.items() if k in CODES)
    flat = numbers(data) if isinstance(data, (list, dict)) else [data]
    flat = [float(v) if name[0] == "f" else bool(v) if name == "bool" else int(v) for v in flat]
    shape = given.get("shape", extents(data) if isinstance(data, list) else [len(flat)] if isinstance(data, dict) else [])
    packed = base64.b64encode(struct.pack(f"<{len(flat)}{CODES[name]}", *flat)).decode()
    return {"dtype": name, "shape": shape, "data": packed, **{k: given[k] for k in ("strides", "offset") if k in given}}


def elements(t):
    raw = base64.b64decode(t["data"])
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(CODES[t['dtype']])}{CODES[t['dtype']]}", raw))


def counted(t):
    """1, 2, 3, … in the form of a tensor: seeds that a witness does not state."""
    n = math.prod(t["shape"])
    packed = base64.b64encode(struct.pack(f"<{n}{CODES[t['dtype']]}", *(i + 1 for i in range(n)))).decode()
    return {"dtype": t["dtype"], "shape": t["shape"], "data": packed}


class Backend:
    """A process that is asked line by line."""

    def __init__(self, command, name):
        environment = {k: v for k, v in os.environ.items() if k != "ETALON_BLIND"}
        if name:
            environment["ETALON_BLIND"] = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def requests(w, sound):
    """A witness as a request: one call, or the calls that it states; seeds follow from the sound backend's outputs."""
    inputs = [tensor(x) for x in w["operands"] if x]
    names = iter([f"x{i}" for i in range(len(inputs))])
    declared = [{"name": f"x{i}", "dtype": t["dtype"], "shape": t["shape"]} for i, t in enumerate(inputs)]
    calls = [dict(zip(("operation", "operands", "attributes", "results"), c)) for c in w.get("calls", [])]
    calls = calls or [{"operation": w["operation"], "operands": [next(names) if x else None for x in w["operands"]],
                       "attributes": w.get("attributes", {}), "results": [f"y{i}" for i in range(w.get("results", 1))]}]
    outputs = w.get("outputs") or [r for call in calls for r in call["results"]]
    asked = {"request": "run", "id": "w", "mode": "forward", "inputs": inputs,
             "program": {"inputs": declared, "calls": calls, "outputs": outputs}}
    wrt = w.get("wrt") or [t["dtype"][0] == "f" for t in inputs]
    if w["mode"] == "jvp":
        given = w.get("seeds") or [None] * len(inputs)
        asked.update(mode="jvp", wrt=wrt, tangents=[(tensor(s) if s else counted(t)) if k else None
                                                    for t, k, s in zip(inputs, wrt, given)])
    if w["mode"] == "vjp":
        found = sound.ask(asked).get("outputs", [])
        given = w.get("seeds") or [None] * len(found)
        asked.update(mode="vjp", wrt=wrt, cotangents=[(tensor(s) if s else counted(t)) if t["dtype"][0] == "f" else None
                                                      for t, s in zip(found, given)])
    return asked


def tensors(found):
    return [t for part in ("outputs", "tangents", "cotangents") for t in found.get(part, [])]


def same(name, a, b, exactly, rounding):
    if name[0] != "f":
        return a == b
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if a == b:
        return not exactly or math.copysign(1, a) == math.copysign(1, b)
    if exactly or math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= rounding[name] * max(abs(a), abs(b))


def differ(x, y, exactly):
    """Whether two answers differ beyond any rounding; exactly where one answer alone is right, with its signs of zero."""
    x, y = tensors(x), tensors(y)
    if [t and (t["dtype"], t["shape"]) for t in x] != [t and (t["dtype"], t["shape"]) for t in y]:
        return True
    return any(not same(s["dtype"], a, b, exactly, {"f32": 1e-5, "f64": 1e-10})
               for s, t in zip(x, y) if s for a, b in zip(elements(s), elements(t)))


def written(found):
    """The numbers of an answer as defects.json has them; of large tensors none."""
    def one(v):
        return str(v) if isinstance(v, float) and not math.isfinite(v) else v
    return [None if t is None or math.prod(t["shape"]) > 40 else [one(v) for v in elements(t)] for t in tensors(found)]


def as_expected(found, expected, exactly):
    got = tensors(found)
    if len(got) != len(expected):
        return False
    return all(e is None or all(same(t["dtype"], a, float(b) if t["dtype"][0] == "f" else b, exactly, {"f32": 1e-6, "f64": 1e-12})
                                for a, b in zip(elements(t), e)) for t, e in zip(got, expected))


def examined(defect, program, sound):
    """What is wrong with a defect, if anything; and the expected numbers that another backend gives."""
    w = {"operation": defect["operation"], "mode": defect["mode"], **defect["witness"]}
    asked = [requests({"operation": defect["operation"], "mode": defect["mode"], **b}, sound) for b in w.get("before", [])]
    asked.append(requests(w, sound))
    right = [sound.ask(a) for a in asked][-1]
    wrong = Backend(program, defect["name"])
    planted = [wrong.ask(a) for a in asked][-1]
    wrong.close()
    exactly = w.get("exact", False)
    if "outputs" not in right:
        return "no sound answer: " + json.dumps(right)[:200]
    if not as_expected(right, w.get("expected", []), exactly):
        return f"the sound answer is another: {written(right)} for {w.get('expected')}"
    if "outputs" in planted and not differ(right, planted, exactly):
        return f"no difference: {written(planted)}"
    return None


def main():
    defects = json.loads((HERE / "defects.json").read_text())
    names = [d["name"] for d in defects]
    planted = set(re.findall(r'PLANTED\("([\w-]+)"\)', "".join(p.read_text() for p in HERE.glob("*.cpp"))))
    faults = [f"{n}: listed twice" for n in names if names.count(n) > 1]
    faults += [f"{n}: planted nowhere" for n in names if n not in planted] + [f"{n}: not listed" for n in sorted(planted - set(names))]
    sound = Backend([sys.argv[1]], "")
    for d in defects:
        if len(sys.argv) > 2 and d["name"] not in sys.argv[2:]:
            continue
        fault = examined(d, [sys.argv[1]], sound)
        if fault:
            faults.append(f"{d['name']}: {fault}")
    sound.close()
    print("\n".join(faults + [f"{len(names)} defects, {len(faults)} faults"]))
    return 1 if faults or len(names) < 75 else 0


if __name__ == "__main__":
    sys.exit(main())
