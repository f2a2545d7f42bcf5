"""Protocol 1: the page's transcript is what the reference answers, and the schemas say of every message what the suite's reader says: of
the transcript, of what a run really sends and gets, and of each with one place changed. Usage: protocol.py ETALON ROOT"""
import copy
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

from checks import Checks

etalon, root = sys.argv[1], pathlib.Path(sys.argv[2])
check = Checks()


# The transcript. Of the description the page shows a part.
page = (root / "docs/protocol.md").read_text()
pairs = [(json.loads(q), json.loads(a)) for q, a in re.findall(r"^```request\n(.*?)```\n```answer\n(.*?)```$", page, re.M | re.S)]
served = subprocess.run([etalon, "serve", "--backend", "reference"], input="".join(json.dumps(q) + "\n" for q, _ in pairs), capture_output=True, text=True)
answers = [json.loads(line) for line in served.stdout.splitlines()]
check(served.returncode == 0 and len(answers) == len(pairs) >= 12, f"transcript: {len(answers)} answers to {len(pairs)} requests: {served.stderr}")
for (question, expected), found in zip(pairs, answers):
    shown = {name: found.get(name) for name in expected} if question["request"] == "describe" else found
    check(shown == expected, f"transcript: to {json.dumps(question)[:120]} the page says {json.dumps(expected)}, the reference {json.dumps(shown)}")

try:
    import jsonschema
except ImportError as missing:
    sys.exit(check.status(1, f"skipped the schemas: {missing}") or 77)

# A run with everything it says and hears; the adapter is a pair of pipes.
with tempfile.TemporaryDirectory() as folder:
    sent, got = pathlib.Path(folder) / "sent", pathlib.Path(folder) / "got"
    command = f"exec:tee -a {sent} | {shlex.quote(etalon)} serve --backend reference | tee -a {got}"
    subprocess.run([etalon, "conform", "--backend", command, "--ops", "where,concat,adam,clamp,sum", "--dtypes", "f32", "--jobs", "1", "--memory", "0"], capture_output=True, text=True, check=True)
    sent_lines, got_lines = ([json.loads(line) for line in path.read_text().splitlines()] for path in (sent, got))
check(len(got_lines) > 100, f"a run got {len(got_lines)} lines")
rng = random.Random(1)
MORE = [{"request": "run", "mode": "forward", "inputs": [], "program": p} for p in (
    {"inputs": [{"name": "w", "dtype": "f64", "shape": ["?n", 2], "role": "parameter", "source": {"file": "net.cpp", "line": 3}},
                {"name": "i", "dtype": "i64", "shape": [], "role": "index", "range": [0, 3]}],
     "calls": [{"operation": "f", "operands": ["w", None], "packs": [1, 0], "attributes": {"a": [1, "inf"], "b": {"value": "i"}, "c": True, "d": "9007199254740993"}, "results": ["y"]},
               {"derivative": "vjp", "of": ["y"], "wrt": ["w"], "seeds": [None], "results": ["g"]},
               {"assign": "z", "places": "i", "accumulation": ":+=", "value": "w[i, 0]", "declares": True}],
     "outputs": ["y"], "updates": [{"parameter": "w", "value": "g"}], "buffers": [{"name": "b", "dtype": "f32", "shape": [2]}], "definitions": ["f(x) -> y\n  y = x"],
     "wishes": [{"wish": "capture", "value": "y", "source": {"file": "net.cpp", "line": 4}}, {"wish": "stored", "value": "y"}]},)]
DESCRIPTIONS = [{"etalon": 1, "name": "n", "dtypes": ["f32", "u8"], "modes": ["vjp"], "operations": ["relu", {"operation": "add", "dtypes": ["f32"]}, {"name": "mul"}], "pipeline": 2,
                 "version": None, "generator": None, "contract": {"sums": {"block": 4}}, "materialises": True, "rejects": False, "max_bytes": 1000, "deterministic": False}]
messages = {"request": [q for q, _ in pairs if q["request"] in ("run", "describe") and q.get("id") not in ("i", "j")] + MORE + rng.sample(sent_lines, 25),
            "description": [answers[0]] + DESCRIPTIONS,
            "answer": answers[1:] + [{"id": "1", "unsupported": "no"}] + rng.sample([a for a in got_lines if "etalon" not in a], 15)}

load = lambda path: json.loads((root / path).read_text())
names = ("parts", "request", "description", "answer")
store = {f"{name}.schema.json": load(f"spec/protocol/schemas/{name}.schema.json") for name in names}
store["contract.schema.json"] = load("docs/contract.schema.json")
validators = {}
for name in names:
    schema = store[f"{name}.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[name] = jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver(f"{name}.schema.json", schema, store=store))

# What a schema cannot say: numbers of bytes, elements and entries that must agree.
BEYOND = re.compile(r"elements of \d+ bytes|one stride per axis|address elements|one truth value per input|expected the position of an input|a bool is one byte|has more than")
PUT = [None, True, -1, 1.5, "unheard of", "inf", "AAAA", [], {}, [None], [-1], ["x"], {"value": "x"}]


def places(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, at + (key,))


def mutants(message, most):
    """The message without one member, or with another value in its place."""
    every = [(at, put) for at in places(message) if at for put in ["gone", *PUT]]
    for at, put in rng.sample(every, min(most, len(every))):
        changed = copy.deepcopy(message)
        inner = changed
        for key in at[:-1]:
            inner = inner[key]
        if put == "gone":
            del inner[at[-1]]
        else:
            inner[at[-1]] = put
        yield changed


refused = 0
for kind, valid in messages.items():
    lines = [(m, True) for m in valid] + [(changed, False) for m in valid for changed in mutants(m, 2000 if kind == "description" else 60 if m not in MORE else 800)]
    ran = subprocess.run([etalon, "adapter", "message", "--kind", kind], input="".join(json.dumps(m) + "\n" for m, _ in lines), capture_output=True, text=True)
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    check(len(said) == len(lines), f"{kind}: {len(said)} verdicts on {len(lines)} lines: {ran.stderr}")
    for (message, must), verdict in zip(lines, said):
        error = next(iter(validators[kind].iter_errors(message)), None)
        refused += error is not None
        text = json.dumps(message)
        if must:
            check(error is None and verdict["valid"], f"{kind} {text[:300]}: the schema says {error and error.message[:200]}, the reader {verdict}")
        elif error is None and not verdict["valid"]:
            check(BEYOND.search(verdict["error"]), f"{kind}: only the reader refuses {verdict['error']}: {text[:400]}")
        else:
            check((error is None) == verdict["valid"], f"{kind}: only the schema refuses {error and error.message[:120]} at {error and list(error.absolute_path)}: {text[:400]}")
check(refused >= 500, f"only {refused} messages refused by both")
sys.exit(check.status(1500, f"{refused} messages refused by both"))
