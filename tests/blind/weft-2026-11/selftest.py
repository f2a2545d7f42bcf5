"""Asks every witness of defects.json without and with its defect: the sound answer is the expected one, the other is not.

Needs no Etalon: the expected answers stand in expected.json. `selftest.py [NAME…]`
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

HERE = pathlib.Path(__file__).resolve().parent
CODES = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "bool": "?"}
PARTS = ("outputs", "tangents", "cotangents", "cotangent_tangents")
MODES = {"forward", "jvp", "vjp", "program", "step"}
KINDS = {"obvious", "subtle", "nasty"}


class Backend:
    """A process that is asked line by line."""

    def __init__(self, name=""):
        environment = {k: v for k, v in os.environ.items() if k != "ETALON_BLIND"}
        if name:
            environment["ETALON_BLIND"] = name
        command = (HERE / "command").read_text().strip().replace("{set}", str(HERE)).split()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def elements(t):
    raw = base64.b64decode(t["data"])
    return list(struct.unpack(f"<{len(raw) // struct.calcsize(CODES[t['dtype']])}{CODES[t['dtype']]}", raw))


def tensors(found):
    return [t for part in PARTS for t in found.get(part, [])]


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


def agree(x, y, exactly, rounding):
    x, y = tensors(x), tensors(y)
    if [t and (t["dtype"], t["shape"]) for t in x] != [t and (t["dtype"], t["shape"]) for t in y]:
        return False
    return all(same(s["dtype"], a, b, exactly, rounding) for s, t in zip(x, y) if s for a, b in zip(elements(s), elements(t)))


def main():
    defects = json.loads((HERE / "defects.json").read_text())
    expected = json.loads((HERE / "expected.json").read_text())
    names = [d["name"] for d in defects]
    planted = set(re.findall(r'defect\("([\w-]+)"\)', "".join(p.read_text() for p in HERE.glob("*.cpp"))))
    faults = [f"{n}: listed twice" for n in names if names.count(n) > 1]
    faults += [f"{n}: planted nowhere" for n in names if n not in planted]
    faults += [f"{n}: not listed" for n in sorted(planted - set(names))]
    sound = Backend()
    asked = 0
    for d in defects:
        if len(sys.argv) > 1 and d["name"] not in sys.argv[1:]:
            continue
        asked += 1
        if d["mode"] not in MODES or d["kind"] not in KINDS:
            faults.append(f"{d['name']}: mode or kind")
        exactly = d.get("exact", False)
        right = sound.ask(d["witness"])
        alone = Backend()
        fresh = alone.ask(d["witness"])
        alone.close()
        wrong = Backend(d["name"])
        planted_answer = wrong.ask(d["witness"])
        again = wrong.ask(d["witness"])
        wrong.close()
        if "outputs" not in right:
            faults.append(f"{d['name']}: no sound answer: {json.dumps(right)[:200]}")
        elif tensors(right) != tensors(fresh):
            faults.append(f"{d['name']}: the sound answer depends on what was asked before")
        elif not agree(expected[d["name"]], right, exactly, {"f32": 1e-6, "f64": 1e-12}):
            faults.append(f"{d['name']}: the sound answer is not the expected one")
        elif "outputs" not in planted_answer:
            faults.append(f"{d['name']}: no answer with the defect: {json.dumps(planted_answer)[:200]}")
        elif agree(right, planted_answer, exactly, {"f32": 1e-5, "f64": 1e-10}):
            faults.append(f"{d['name']}: no difference")
        elif tensors(again) != tensors(planted_answer):
            faults.append(f"{d['name']}: the second answer is another")
    if sound.close() != 0:
        faults.append("the sound backend did not end with 0")
    print("\n".join(faults + [f"{asked} of {len(names)} defects asked, {len(faults)} faults"]))
    return 1 if faults or len(names) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
