"""Follows docs/adapter-derivatives.md to the letter, in an empty folder beside the adapter of the page before it: files are
put together from their blocks, commands are run, exit statuses compared, what is shown of an output must stand there, and
what fails is held to the records of the run. The jobs of docs/ci.md are run too. Usage: walk.py ETALON ROOT"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402
from shown import missing  # noqa: E402

etalon, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
try:
    import numpy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; {root}/conformance/adapters/numpy/install says how to get it")
    sys.exit(77)

page = root / "docs/adapter-derivatives.md"
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "bin").mkdir()
(folder / "bin/etalon").symlink_to(etalon)
(folder / "bin/python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
(folder / "bin/python3").chmod(0o755)
environment = {**os.environ, "CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "4", "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
(folder / "adapter.py").write_text((root / "conformance/adapters/numpy/adapter.py").read_text())
program = folder / "derivatives.py"
program.write_text("")
check, counts, output = Checks(), {}, ""


def count(what):
    counts[what] = counts.get(what, 0) + 1


def replaced(code):
    """The function of the same name, in its place."""
    name = re.match(r"def (\w+)", code)[1]
    text = program.read_text()
    new, times = re.subn(rf"^def {name}\(.*?\n\n\n", lambda _: code.rstrip("\n") + "\n\n\n", text, flags=re.S | re.M)
    check(times == 1 and new != text, f"{name}: {times} functions to replace, or the same again")
    program.write_text(new)


def ran(commands, fails=False, place=folder):
    global output
    done = subprocess.run(["bash", "-ec", commands], cwd=place, env=environment, capture_output=True, text=True, timeout=600)
    output = done.stdout + done.stderr
    # How good NumPy's functions are is the processor's: where one is worse than any shipped contract, the page's command says so.
    defects = re.findall(r"^defect: (.*)$", output, re.M)
    poor = bool(defects) and all("more than any shipped contract grants" in d for d in defects)
    check(done.returncode == (1 if fails else 0) or (poor and done.returncode == 1), f"exit status {done.returncode}:\n{commands}{output[-3000:]}")


def fails(name):
    """Operation and check of each failure of a run."""
    records = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    return {(r["operation"], r["check"]) for r in records if r["kind"] == "result" and r["verdict"] in ("fail", "crashed", "timeout")}


for info, code in re.findall(r"^```(\w[^\n]*)\n(.*?)^```$", page.read_text(), re.M | re.S):
    count(info)
    language, _, rest = info.partition(" ")
    if info == "python":
        program.write_text(program.read_text() + code)
    elif info == "python instead":
        replaced(code)
    elif language in ("json", "ini"):
        (folder / rest).write_text(code)
    elif language == "sh":
        ran(code, rest == "fails")
    elif info == "console":
        check(code.strip() and missing(code, output) is None, f"no line, or not after the others, like {missing(code, output)!r} in\n{output[-6000:]}")
    else:
        check(False, f"a block of {info!r}")

# The files for build servers, as the second of four jobs would run them, and what puts their reports together.
server = folder / "server"
server.mkdir()
(server / "adapter.py").write_text((folder / "adapter.py").read_text())
(server / "waivers.json").write_text('{"schema": 1, "waivers": []}')
for code in re.findall(r"^```yaml\n(.*?)^```$", (root / "docs/ci.md").read_text(), re.M | re.S):
    for _, folded, single in re.findall(r"^( *)(?:- |run: )(?:>\n((?:\1  +\S.*\n)+)|(etalon .*)$)", code, re.M):
        count("jobs")
        ran(" ".join((folded or single).split()).replace("${{ matrix.share }}", "2"), place=server)
check(counts.get("jobs") == 3 and all((server / f).stat().st_size > 0 for f in ("junit.xml", "report.html", "badge.svg", "summary.md")), f"jobs: {counts}")

# The planted mistakes, and nothing else.
check({("max", "jvp"), ("max", "vjp"), ("sgd", "vjp")} <= fails("monday.jsonl") and {o for o, _ in fails("monday.jsonl")} == {"max", "sgd"},
      f"monday: {fails('monday.jsonl')}")
check(fails("tuesday.jsonl") == fails("wednesday.jsonl") == set(), "tuesday or wednesday fails")
check(counts.get("console", 0) >= 3 and counts.get("sh", 0) >= 3, "too few blocks of the pages")
sys.exit(check.status(20, str(counts)))
