"""Asks every witness of a blind set with and without its defect: the sound answer must be the expected one, the other must
differ. Usage: selftest.py SET

The set's expected.json holds the answers as numbers that were computed from the equations in arbitrary precision and rounded
once. Needs Python alone; the backend finds its NumPy itself. Prints one line per failure and the counts."""
import base64
import json
import math
import os
import shlex
import struct
import subprocess
import sys
from pathlib import Path

CODES = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "bool": "?"}
LISTS = ("outputs", "tangents", "cotangents", "cotangent_tangents")
AGREE = {"f32": 4e-7, "f64": 1e-14}  # of an element, or of a thousandth of the tensor's largest
DIFFER = {"f32": 1e-5, "f64": 1e-11}
KINDS = {"obvious": 0.20, "subtle": 0.45, "nasty": 0.35}


def command_of(folder):
    line = (folder / "command").read_text().strip()
    return [word.replace("{set}", str(folder)) for word in shlex.split(line)]


def ask(command, requests, defect=None):
    """The answers of one process to the requests, in order; None where it ended too soon."""
    env = {k: v for k, v in os.environ.items() if k != "ETALON_BLIND"}
    if defect:
        env["ETALON_BLIND"] = defect
    text = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=env)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return found + [None] * (len(requests) - len(found))


def numbers(tensor):
    data = base64.b64decode(tensor["data"])
    count = math.prod(tensor["shape"])
    return struct.unpack(f"<{count}{CODES[tensor['dtype']]}", data)


def close(a, b, share, scale):
    if isinstance(a, float):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if math.isinf(a) or math.isinf(b):
            return a == b
        return abs(a - b) <= share * max(abs(a), abs(b), scale)
    return a == b


def same_tensor(a, b, shares, signs):
    if a is None or b is None:
        return a is b
    if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]):
        return False
    x, y = numbers(a), numbers(b)
    finite = [abs(v) for v in y if isinstance(v, float) and math.isfinite(v)]
    scale = max(finite, default=0.0) * 1e-3
    share = shares.get(a["dtype"], 0.0)
    for p, q in zip(x, y):
        if not close(p, q, share, scale):
            return False
        if signs and isinstance(p, float) and p == q == 0 and math.copysign(1, p) != math.copysign(1, q):
            return False
    return True


def same(answer, expected, shares):
    """Whether all lists of tensors agree; signs of zero count among values, not among derivatives."""
    if answer is None or "outputs" not in answer:
        return False
    for name in LISTS:
        a, b = answer.get(name), expected.get(name)
        if (a is None) != (b is None) or a is not None and (
                len(a) != len(b) or not all(same_tensor(s, t, shares, name == "outputs") for s, t in zip(a, b))):
            return False
    return True


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: selftest.py SET, a folder with command, defects.json and expected.json")
    folder = Path(sys.argv[1]).resolve()
    command = command_of(folder)
    defects = json.loads((folder / "defects.json").read_text())
    expected = json.loads((folder / "expected.json").read_text())
    failures = []
    if len({d["name"] for d in defects}) != len(defects):
        failures.append("names are given twice")
    sound = ask(command, [d["witness"] for d in defects])
    for d, answer in zip(defects, sound):
        name = d["name"]
        if not same(answer, expected[name], AGREE):
            failures.append(f"{name}: without the defect the answer is not the expected one")
            continue
        if same(ask(command, [d["witness"]], name)[0], answer, DIFFER):
            failures.append(f"{name}: the defect does not show")
    for failure in failures:
        print(failure)
    counts = {kind: sum(d["kind"] == kind for d in defects) for kind in KINDS}
    print(f"{len(defects)} defects ({', '.join(f'{n} {k}' for k, n in counts.items())}), {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
