"""Scripts of the NumPy adapter print, without Etalon, the bits that the adapter answers. Usage:
numpy_scripts.py ETALON ADAPTER [argument of conform …]

The questions are those of a run: of each that is answered the adapter is asked for two scripts, one that prints an element
and one that prints everything. Without NumPy the test is skipped."""
import base64
import collections
import importlib.util
import json
import pathlib
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

etalon, adapter = sys.argv[1], sys.argv[2]
if importlib.util.find_spec("numpy") is None:
    print("skipped: numpy is not installed")
    sys.exit(77)

PER_OPERATION = 12
CODES = {"f32": "f", "f64": "d", "i32": "i", "i64": "q", "bool": "?"}
# Each script has a namespace of its own; what it needs besides NumPy, it has not.
RUNNER = """
import contextlib, io, json, sys
for text in json.load(sys.stdin):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(text, {})
    print(json.dumps(printed.getvalue()))
"""
check = Checks()


def answers(requests):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([sys.executable, adapter], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def elements(tensor):
    code = CODES[tensor["dtype"]]
    data = base64.b64decode(tensor["data"])
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def same(printed, answered):
    if isinstance(answered, float) and answered != answered:
        return printed != printed
    return type(printed) is type(answered) and repr(printed) == repr(answered)


def flat(v):
    return [x for item in v for x in flat(item)] if isinstance(v, list) else [v]


def read(line):
    return flat(eval(line, {"nan": float("nan"), "inf": float("inf")}))


def questions():
    """Requests of a run that the adapter answers with values, so many of each operation, and their answers."""
    operations = answers([{"etalon": 1, "request": "describe"}])[0]["operations"]
    with tempfile.TemporaryDirectory() as folder:
        asked, told = pathlib.Path(folder) / "asked", pathlib.Path(folder) / "told"
        words = [shlex.quote(str(word)) for word in (asked, sys.executable, adapter, told)]
        backend = "exec:tee -a {} | {} {} | tee -a {}".format(*words)
        subprocess.run([etalon, "conform", "--backend", backend, "--jobs", "1", "--modes", "forward", "--ops", ",".join(operations),
                        "--checks", "value,special,program", *sys.argv[3:]], check=True, capture_output=True)
        pairs = list(zip(map(json.loads, asked.read_text().splitlines()), map(json.loads, told.read_text().splitlines())))
    kinds = collections.defaultdict(list)
    for request, answer in pairs:
        if "outputs" in answer:
            kinds[" ".join(call["operation"] for call in request["program"]["calls"])].append((request, answer))
    draw = random.Random(1)
    return {kind: draw.sample(found, min(len(found), PER_OPERATION)) for kind, found in kinds.items()}


def compared(found):
    """Numbers that were compared, and the operations of the scripts that printed them."""
    draw = random.Random(2)
    requests, expected, kinds = [], [], []
    for kind, pairs in found.items():
        for request, answer in pairs:
            outputs = [elements(t) for t in answer["outputs"]]
            places = [(t, k) for t, values in enumerate(outputs) for k in range(len(values))]
            asked = [(None, outputs)]
            if places:
                t, k = draw.choice(places)
                asked.append(({"list": "outputs", "tensor": t, "element": k}, [[outputs[t][k]]]))
            for element, values in asked:
                requests.append({**request, "request": "script", **({"element": element} if element else {})})
                expected.append(values)
                kinds.append(kind)
    written = answers(requests)
    texts = [answer.get("script", f"print({json.dumps(answer)!r})") for answer in written]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", RUNNER], input=json.dumps(texts), cwd=folder, capture_output=True, text=True)
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    check(len(printed) == len(texts), f"{len(printed)} of {len(texts)} scripts ran: {done.stderr[-600:]}")
    numbers, seen = 0, set()
    for text, lines, values, kind in zip(texts, printed, expected, kinds):
        try:
            got = [read(line) for line in lines.splitlines()]
        except (NameError, SyntaxError):
            got = None
        holds = got is not None and len(got) == len(values) and all(
            len(g) == len(v) and all(map(same, g, v)) for g, v in zip(got, values))
        check(holds, f"{kind}: expected {str(values)[:200]}, printed {lines[:200]} by\n{text[:1500]}")
        numbers += sum(map(len, values)) if holds else 0
        if holds and any(values):
            seen.update(kind.split())
    return numbers, len(texts), seen


def ran_alone(request):
    """The script as a file, and what it says."""
    text = answers([request])[0]["script"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "script.py"
        file.write_text(text)
        return text, subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)


def call(operation, operands, result, **attributes):
    return {"operation": operation, "operands": operands, "attributes": attributes, "results": [result]}


# By hand: x = (1, 2); an input whose name is Python's, an output that needs nothing of the other one, a call that fails.
x = {"dtype": "f32", "shape": [2], "data": "AACAPwAAAEA="}
request = {"request": "script", "id": "s", "mode": "forward", "inputs": [x],
           "program": {"inputs": [{"name": "lambda", "dtype": "f32", "shape": [2]}],
                       "calls": [call("exp", ["lambda"], "e"), call("mul", ["lambda", "lambda"], "q"), call("neg", ["q"], "n")],
                       "outputs": ["e", "n"]}}
element = {"list": "outputs", "tensor": 1, "element": 1}
text, ran = ran_alone({**request, "element": element})
check(ran.stdout == "-4.0\n" and "exp" not in text and "etalon" not in text, f"expected -4.0 without exp, found {ran.stdout}{ran.stderr} of\n{text}")
text, ran = ran_alone(request)
check(re.fullmatch(r"\[2\.7\d*, 7\.3\d*\]\n\[-1\.0, -4\.0\]\n", ran.stdout), f"expected two lists, found {ran.stdout}{ran.stderr} of\n{text}")
request["program"] |= {"calls": [call("exp", ["lambda"], "e"), call("reshape", ["lambda"], "n", shape=[3])]}
text, ran = ran_alone({**request, "element": element})
check(ran.returncode == 1 and "cannot reshape" in ran.stderr and "exp" not in text, f"expected NumPy's own refusal, found {ran.stdout}{ran.stderr} of\n{text}")

numbers, scripts, operations = compared(questions())
check(numbers >= 1000 and len(operations) >= 40, "too few numbers or operations")
sys.exit(check.status(100, f"{numbers} numbers of {scripts} scripts", f"{len(operations)} operations"))
