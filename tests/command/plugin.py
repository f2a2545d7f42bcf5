"""The page that teaches plug-ins, compiled as C99 and run; and plug-ins that go wrong. Usage: plugin.py ETALON ROOT CC [sanitized]"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

etalon, root, compiler, sanitized = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], "sanitized" in sys.argv[4:]
sys.path.insert(0, str(root / "tests/adapters"))
from checks import Checks  # noqa: E402
from shown import missing  # noqa: E402  (beside the other tests of pages)

folder = pathlib.Path(tempfile.mkdtemp())
check = Checks()


def compiled(source, name, *words):
    library = folder / f"{name}.so"
    done = subprocess.run([compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-parameter", "-shared", "-fPIC", "-I", str(root),
                           "-o", str(library), *words, str(source)], capture_output=True, text=True)
    check(done.returncode == 0, f"{name}: {done.stderr[:600]}")
    return f"plugin:{library}"


def conform(backend, *words, timeout="20", modes="forward", tier="quick"):
    report = folder / "report.jsonl"
    report.unlink(missing_ok=True)
    ran = subprocess.run([etalon, "conform", "--backend", backend, "--modes", modes, "--tier", tier, "--dtypes", "f32", "--timeout", timeout, "--memory",
                          "0" if sanitized else "512", "--json", str(report), *words], capture_output=True, text=True)
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    return ran, [line for line in lines if line["kind"] == "result"]


def checker(backend, timeout="20"):
    ran = subprocess.run([etalon, "adapter", "check", backend, "--timeout", timeout, "--memory", "0", "--json"], capture_output=True, text=True)
    return ran.returncode, [r for r in json.loads(ran.stdout)["remarks"] if r["mark"] == "wrong"]


page = folder / "page.c"
page.write_text("".join(re.findall(r"^```c\n(.*?)^```$", (root / "docs/writing-a-plug-in.md").read_text(), re.M | re.S)))
loops = compiled(page, "loops")
status, wrong = checker(loops)
check((status, wrong) == (0, []), f"the page's plug-in: {status} {wrong}")
five = {"neg", "add", "mul", "matmul", "sgd"}
# Few calls do not broadcast; what sanitizers look for shows in fewer.
ran, results = conform(loops, modes="forward,jvp,vjp", tier="quick" if sanitized else "full")
passed = {(r["operation"], r["check"]) for r in results if r["verdict"] == "pass"}
wanted = {(o, c) for o in five - {"sgd"} for c in ("value", "jvp", "vjp", "layout")} | {("sgd", c) for c in ("value", "step", "layout")}
check(ran.returncode == 0 and (sanitized or wanted <= passed) and {o for o, _ in passed} == five, f"the page's plug-in: {ran.returncode} lacks {wanted - passed} {ran.stdout[-600:]} {ran.stderr}")
text = (root / "docs/writing-a-plug-in.md").read_text()
right, wrong = "position += index[axis] * t->strides[axis]", re.search(r"`(position = [^`]*)`", text)[1]
dense = folder / "dense.c"
dense.write_text(page.read_text().replace(right, wrong))
check(page.read_text().count(right) == 1, "the page has no line to replace")
ran, results = conform(compiled(dense, "dense"), modes="forward,jvp,vjp")
failed = {r["check"] for r in results if r["verdict"] == "fail"}
check(ran.returncode == 1 and {"layout"} <= failed <= {"layout", "program", "vjp", "jvp", "adjoint", "determinism"}, f"the page's mistake: {ran.returncode} {failed} {ran.stderr}")
shown = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
check(len(shown) == 1 and missing(shown[0], ran.stdout) is None, f"the page's mistake says something else: {ran.stdout[:3000]}")

source = root / "tests/command/misbehaving_plugin.c"
# What it is, what becomes of its cases, and a word of the checker's complaint.
for kind, verdict, words in (("crash", "crashed", "signal 6"), ("hang", "timeout", "no whole line within"), ("no_answer", "fail", "output 0 was not added"),
                             ("wrong_place", "fail", "list 0 has no place 7"), ("wrong_shape", "fail", "outputs[0]: expected"), ("negative_extent", "fail", "an extent is -3"),
                             ("wrong_dtype", "fail", "17 is no element type"), ("huge", "fail", "too large")):
    backend = compiled(source, kind, f"-DKIND_{kind}")
    ran, results = conform(backend, "--ops", "neg", timeout="0.05" if kind == "hang" else "20")
    found = {r["verdict"] for r in results}
    check(ran.returncode == 1 and verdict in found and found <= {verdict, "unsupported", "pass"}, f"{kind}: expected {verdict}, found {found} {ran.stderr[:200]}")
    status, wrong = checker(backend, timeout="0.2" if kind == "hang" else "20")
    check(status == 1 and any(words in r["what"] for r in wrong), f"{kind}: expected {words!r}, found {wrong}")
talkative = compiled(source, "talkative")
ran, results = conform(talkative, "--ops", "neg")
check(ran.returncode == 0 and results, f"a plug-in that prints: {ran.stdout[-300:]} {ran.stderr}")
for kind, words in (("no_table", "exports no etalon_backend_table"), ("wrong_version", "expected a table of version 1 to 2, found 3"),
                    ("bad_description", "dtypes: expected an array")):
    ran, results = conform(compiled(source, kind, f"-DKIND_{kind}"), "--ops", "neg")
    check((ran.returncode, results) == (2, []) and words in ran.stderr and ran.stderr.count("\n") == 1, f"{kind}: {ran.returncode} {ran.stderr!r}")


def scripts(kind):
    """What a plug-in answers when it is asked for scripts of everything, of an element, of one that it writes none of, and of one that there is not."""
    asked = {"request": "script", "id": "s", "mode": "forward", "inputs": [{"dtype": "f32", "shape": [1], "data": "AACAPw=="}],
             "program": {"inputs": [{"name": "x", "dtype": "f32", "shape": [1]}], "outputs": ["y"],
                         "calls": [{"operation": "neg", "operands": ["x"], "attributes": {}, "results": ["y"]}]}}
    shown = [{}, *({"element": {"list": "outputs", "tensor": t, "element": e}} for t, e in ((0, 3), (0, 7), (1, 0)))]
    lines = "".join(json.dumps({**asked, **one}) + "\n" for one in shown)
    ran = subprocess.run([etalon, "serve", "--backend", compiled(source, kind, f"-DKIND_{kind}")], input=lines, capture_output=True, text=True)
    return [answer.get("script", answer.get("unsupported", {}).get("why", answer.get("error"))) for answer in map(json.loads, ran.stdout.splitlines())]


found = scripts("writes")
check(found == ["all", "neg 0 0 3", "request: no script of this", "element.tensor: expected below 1, found 1"], f"scripts: {found}")
found = scripts("old_table")
check(found == ["request: 'script' is not offered; there are describe and run"] * 4, f"scripts of a table of version 1: {found}")
ran, results = conform("plugin:/nowhere/at all.so", "--ops", "neg")
check((ran.returncode, results) == (2, []) and "cannot open shared object file" in ran.stderr, f"no file: {ran.returncode} {ran.stderr!r}")

sys.exit(check.status(35))
