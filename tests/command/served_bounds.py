"""What a backend answers in a run of the suite and `etalon judge` passes lies in the bounds that `etalon serve` states."""
import base64
import collections
import json
import math
import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

MOST_BYTES = 6000  # of a request that is kept


def proxy(etalon, backend, log, every):
    """Passes requests on to the backend and keeps some of them with their answers."""
    inner = subprocess.Popen([etalon, "serve", "--backend", backend], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    asked = 0
    with open(log, "w", encoding="utf-8") as kept:
        for line in sys.stdin:
            inner.stdin.write(line)
            inner.stdin.flush()
            answer = inner.stdout.readline()
            sys.stdout.write(answer)
            sys.stdout.flush()
            asked += 1
            if len(line) <= MOST_BYTES and asked % every == 0 and '"outputs":[{' in answer and '"run"' in line:
                kept.write(json.dumps({"request": json.loads(line), "answer": json.loads(answer)}) + "\n")


def numbers(tensor):
    """The elements of a tensor; floats of 16 bits are not asked for here."""
    form = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "bool": "B"}[tensor["dtype"]]
    data = base64.b64decode(tensor["data"])
    return struct.unpack("<" + form * (len(data) // struct.calcsize(form)), data)


def outside(got, lower, upper, flags):
    """How many elements the bounds say something of, and the first that lies outside."""
    admits = {flag["element"]: flag["admits"] for flag in flags}
    compared = 0
    for i, (x, low, high) in enumerate(zip(numbers(got), numbers(lower), numbers(upper), strict=True)):
        words = admits.get(i, [])
        if "any" in words:
            continue
        compared += 1
        if isinstance(x, float) and not math.isfinite(x):
            inside = str(x) in words
        else:
            inside = "no number" not in words and low <= x <= high
        if not inside:
            return compared, f"element {i}: {x!r} in [{low!r}, {high!r}], {words}"
    return compared, None


def main(etalon, backend, shard, every):
    folder = pathlib.Path(tempfile.mkdtemp())
    log = folder / "pairs.jsonl"
    words = [sys.executable, str(pathlib.Path(__file__).resolve()), "--proxy", etalon, backend, str(log), every]
    subprocess.run([etalon, "conform", "--backend", "exec:" + " ".join(map(shlex.quote, words)), "--jobs", "1", "--memory", "0", "--shard", shard,
                    "--checks", "value,jvp,vjp,second,special,program"], capture_output=True, check=False)
    pairs = [json.loads(line) for line in log.read_text().splitlines()]
    told = subprocess.run([etalon, "judge", "--contract", "cpu"], input="".join(json.dumps(p) + "\n" for p in pairs),
                          capture_output=True, text=True, check=False).stdout.splitlines()
    contract = json.loads(subprocess.run([etalon, "contract", "show", "cpu"], capture_output=True, text=True, check=True).stdout)
    asked = "".join(json.dumps({**p["request"], "bounds": contract}) + "\n" for p in pairs)
    stated = subprocess.run([etalon, "serve", "--backend", "reference"], input=asked, capture_output=True, text=True, check=True).stdout
    verdicts, compared, faults, modes = collections.Counter(), 0, [], collections.Counter()
    for pair, line, bounds in zip(pairs, map(json.loads, told), map(json.loads, stated.splitlines()), strict=True):
        verdicts[line["verdict"]] += 1
        if line["verdict"] != "pass" or "lower" not in bounds:
            continue
        modes[pair["request"]["mode"]] += 1
        for name in ("outputs", "tangents", "cotangents", "cotangent_tangents"):
            prefix = "" if name == "outputs" else name + "_"
            for t, got in enumerate(pair["answer"].get(name) or []):
                if got is None:
                    continue
                n, fault = outside(got, *(bounds[prefix + end][t] for end in ("lower", "upper", "flags")))
                compared += n
                if fault:
                    faults.append(f"{pair['request']['id']} {name}[{t}]: {fault}")
    print(f"{len(pairs)} pairs, {dict(verdicts)}, passed by mode {dict(modes)}, {compared} comparisons, {len(faults)} outside")
    for fault in faults[:10]:
        print(fault)
    return 1 if faults or len(pairs) < 100 or compared < 1000 or len(modes) < 4 else 0


if sys.argv[1] == "--proxy":
    proxy(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
else:
    sys.exit(main(sys.argv[1], sys.argv[2], *(sys.argv[3:] or ["7/40", "5"])))
