"""`--backend pjrt:PATH.so` as its users meet it: a plug-in of PJRT over the reference conforms, and one that goes wrong is
convicted, whatever it does to its process. Usage: command.py ETALON PLUGIN [sanitized]"""
import base64
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

etalon, plugin, sanitized = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], "sanitized" in sys.argv[3:]
folder = pathlib.Path(tempfile.mkdtemp())
check = Checks()


def environment(fault, counts=None):
    return {**os.environ, "FAKE_PJRT": fault, **({"FAKE_PJRT_COUNTS": str(counts)} if counts else {})}


def conform(fault, *words, timeout="20"):
    report = folder / "report.jsonl"
    report.unlink(missing_ok=True)
    ran = subprocess.run([etalon, "conform", "--backend", f"pjrt:{plugin}", "--timeout", timeout, "--memory", "0", "--json", str(report),
                          *words], capture_output=True, text=True, env=environment(fault))
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    return ran, [line for line in lines if line["kind"] == "result"]


# What computes by the equations conforms, from elementwise functions to products and places that depend on numbers.
operations = ["neg", "add", "mul", "exp", "where", "matmul", "transpose", "reshape", "concat", "slice", "gather", "eq", "logical_and"]
if sanitized:
    operations = ["neg", "matmul", "concat", "gather"]
ran, results = conform("", "--ops", ",".join(operations), "--dtypes", "f32")
verdicts = [r["verdict"] for r in results]
check(ran.returncode == 0 and set(verdicts) <= {"pass", "unsupported"},
      f"{ran.returncode} {sorted(set(verdicts))} {ran.stdout[-1500:]} {ran.stderr}")
passed = {r["operation"] for r in results if r["verdict"] == "pass" and r["check"] == "value"}
check(passed >= set(operations), f"nothing was asked of {set(operations) - passed}")
check({r["mode"] for r in results if r["verdict"] == "pass"} == {"forward"}, "something else than values was asked")

# A text is compiled once, and all that is made is destroyed when the input ends.
counts = folder / "counts"
tensor = {"dtype": "f32", "shape": [2], "data": base64.b64encode(struct.pack("<2f", 1.5, -2)).decode()}
program = {"inputs": [{"name": "x", "dtype": "f32", "shape": [2]}],
           "calls": [{"operation": "neg", "operands": ["x"], "attributes": {}, "results": ["y"]}], "outputs": ["y"]}
lines = [{"etalon": 1, "request": "describe"}]
lines += [{"request": "run", "id": str(i), "mode": "forward", "program": program, "inputs": [tensor]} for i in range(9)]
ran = subprocess.run([etalon, "serve", "--backend", f"pjrt:{plugin}"], input="".join(json.dumps(line) + "\n" for line in lines),
                     capture_output=True, text=True, env=environment("", counts))
answers = [json.loads(line) for line in ran.stdout.splitlines()][1:]
numbers = [struct.unpack("<2f", base64.b64decode(a["outputs"][0]["data"])) for a in answers]
check(ran.returncode == 0 and numbers == [(-1.5, 2)] * 9, f"serve: {ran}")
made, destroyed, compiled = map(int, counts.read_text().split())
check(made == destroyed > 9 * 5 and compiled == 1, f"made {made}, destroyed {destroyed}, {compiled} compilations")

# What it does wrong, what becomes of its cases, and a word of why.
for fault, verdict, why in (("wrong_numbers", "fail", "call 1 (neg)"), ("wrong_type", "fail", "found i32["),
                            ("wrong_extents", "fail", "call 1 (neg): expected f32["), ("crash", "crashed", "signal 6"),
                            ("hang", "timeout", "no answer within"),
                            ("error=PJRT_LoadedExecutable_Execute", "fail", "PJRT_LoadedExecutable_Execute: injected here"),
                            ("event=to_host", "fail", "PJRT_Event_Await: late"), ("more_outputs", "fail", "expected 1 outputs, found 2"),
                            ("unimplemented=PJRT_Client_Compile", "unsupported", "")):
    ran, results = conform(fault, "--ops", "neg", "--dtypes", "f32", timeout="0.2" if fault == "hang" else "20")
    found = {r["verdict"] for r in results}
    # What compares a backend with itself passes where it is wrong in the same way twice.
    check(ran.returncode == 1 and verdict in found and found <= {verdict, "unsupported", "pass"},
          f"{fault}: expected {verdict}, found {ran.returncode} {found} {ran.stderr[:300]}")
    check(why == "" or any(why in json.dumps(r) for r in results), f"{fault}: nothing says {why!r}: {results[:1]}")
ran, results = conform("talkative", "--ops", "neg", "--dtypes", "f32")
check(ran.returncode == 0 and any(r["verdict"] == "pass" for r in results), f"talkative: {ran.returncode} {ran.stderr[:300]}")

# What is no plug-in is refused in one line, before anything is asked.
for path, fault, why in ((plugin, "no_table", "gives no table"), (plugin, "version=1.0", "found 1.0"),
                         (plugin, "missing=PJRT_Client_Compile", "has no PJRT_Client_Compile"),
                         (plugin, "error=PJRT_Client_Create", "PJRT_Client_Create: injected here"),
                         ("/nonexistent.so", "", "/nonexistent.so"), (etalon, "", "")):
    ran = subprocess.run([etalon, "conform", "--backend", f"pjrt:{path}", "--memory", "0", "--ops", "neg"], capture_output=True, text=True,
                         env=environment(fault))
    check(ran.returncode == 2 and ran.stdout == "" and ran.stderr.count("\n") == 1 and why in ran.stderr, f"{path} {fault}: {ran}")
ran = subprocess.run([etalon, "adapter", "check", f"pjrt:{plugin}", "--memory", "0"], capture_output=True, text=True,
                     env=environment(""))
check(ran.returncode == 0 and "fake PJRT 0.114, 1" in ran.stdout, f"adapter check: {ran.stdout} {ran.stderr}")
sys.exit(check.status(30))
