"""Definitions that read beyond a tensor, or do not give each element once, at every door of the command line: refused in one
line with file, line and index, exit 2, before anything runs."""
import json
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

command, build = sys.argv[1], sys.argv[2]
check = Checks()


def etalon(*words, text=""):
    return subprocess.run([command, *map(str, words)], input=text, capture_output=True, text=True, timeout=120)


folder = pathlib.Path(tempfile.mkdtemp())
bodies = {"y[i] = x[i + 1]": ("reads x[i + 1] at ", ", but axis n has "),
          "y[i] = x[i+100000000]": ("reads x[i+100000000] at 100000000, but axis n has ",),
          "y[0] = x[0]": ("gives y[", "no value"),
          "y[i] = x[i]\n  y[0] = x[0]": ("mine.etalon:3:3: f gives y[0] a second time",)}
for number, (body, parts) in enumerate(bodies.items()):
    definition = f"f(x[n]) -> y[n]\n  {body}\n"
    call = "input x : f32[5]\ny = f(x)\noutput y\n"
    file = folder / "mine.etalon"
    file.write_text(definition)
    calling = folder / f"calls{number}.txt"
    calling.write_text(call)
    own = folder / f"own{number}.txt"
    own.write_text("definitions\n" + definition + "end definitions\n" + call)

    def refused(door, *words):
        ran = etalon(*words)
        said = ran.stderr
        check(ran.returncode == 2 and ran.stdout == "" and said.count("\n") == 1, f"{door}, {body!r}: exit {ran.returncode}, {said!r}, {ran.stdout[:100]!r}")
        for part in parts:
            wanted = part if "definitions" in words or str(file) in map(str, words) else part.replace("mine.etalon", "definitions")
            check(wanted in said, f"{door}, {body!r}: {wanted!r} is missing in {said!r}")
        return said

    backends = ["reference", "cpu"] if build == "compiled" else ["reference"]
    said = refused("check --definitions", "check", calling, "--definitions", file)
    check(f"{file}:" in said, f"check --definitions: no file in {said!r}")
    refused("check of a program", "check", own)
    for backend in backends:
        refused(f"run --backend {backend}", "run", own, "--set", "x=1", "--backend", backend)
        refused(f"run --definitions --backend {backend}", "run", calling, "--definitions", file, "--set", "x=1", "--backend", backend)
        refused(f"conform --backend {backend}", "conform", "--backend", backend, "--definitions", file, "--ops", "f")
    if build == "compiled":
        refused("compile", "compile", own)
        refused("compile --emit c", "compile", own, "--emit", "c")
    for backend in backends:
        request = {"request": "run", "id": "1", "mode": "forward",
                   "program": {"definitions": [definition], "inputs": [{"name": "x", "dtype": "f32", "shape": [5], "role": "input"}],
                               "calls": [{"operation": "f", "operands": ["x"], "results": ["y"]}], "outputs": ["y"]},
                   "inputs": [{"dtype": "f32", "shape": [5], "data": "AACAPwAAgD8AAIA/AACAPwAAgD8="}]}
        ran = etalon("serve", "--backend", backend, text=json.dumps(request) + "\n")
        reply = json.loads(ran.stdout or "{}")
        check("outputs" not in reply and "rejected" in reply, f"serve --backend {backend}, {body!r}: {ran.stdout[:300]!r} {ran.stderr[:200]!r}")
        for part in parts:
            wanted = part.replace("mine.etalon", "definitions")
            check(wanted in reply.get("rejected", ""), f"serve --backend {backend}, {body!r}: {wanted!r} is missing in {reply}")

sound = folder / "sound.etalon"
sound.write_text("f(x[n]) -> y[n]\n  y[i] = x[i + 1] else 0\n")
calling = folder / "calls.txt"
calling.write_text("input x : f32[3]\ny = f(x)\noutput y\n")
for backend in ["reference", "cpu"] if build == "compiled" else ["reference"]:
    ran = etalon("run", calling, "--definitions", sound, "--set", "x=1,2,3", "--backend", backend)
    check(ran.returncode == 0 and "[2.0, 3.0, 0.0]" in ran.stdout, f"run of what is sound: {ran.stdout!r} {ran.stderr!r}")
sys.exit(check.status(80))
