"""etalon run --log-assignments and etalon log diff as their users meet them; docs/logs.md shows what they print."""
import json
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

command, root, build = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
folder = pathlib.Path(tempfile.mkdtemp())
check = Checks()
second = "cpu" if build == "compiled" else "reference"


def etalon(*words):
    return subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def refused(part, *words):
    """Exit 2, one line on stderr that says so, nothing on stdout."""
    ran = etalon(*words)
    check(ran.returncode == 2 and part in ran.stderr and ran.stderr.count("\n") == 1 and ran.stdout == "",
          f"etalon {' '.join(words)}: expected 2 and {part!r}, found {ran.returncode}, {ran.stderr!r}, {ran.stdout[:200]!r}")


program = '''# two layers
input x : f32[2, 3]
parameter w : f32[3, 2]
h = matmul(x, w) section "net"
a = relu(h) section "net"
loss = sum(a)
g = vjp(loss; w)
output loss
update w := g
'''
(folder / "step.txt").write_text(program)
given = ["step.txt", "--set", "x=1,2,3,4,5,6", "--set", "w=0.5,0.1,0,-1,1,-1"]

# Off: the same outputs as ever, and no file.
plain = etalon("run", *given)
check((plain.returncode, plain.stdout, plain.stderr) == (0, "loss : f32[] = 11.5\n", ""), f"run: {plain}")
check({p.name for p in folder.iterdir()} == {"step.txt"}, "run without --log-assignments wrote a file")

for backend, name in (("reference", "a.log"), (second, "b.log")):
    ran = etalon("run", *given, "--backend", backend, "--log-assignments", "--log", name)
    check((ran.returncode, ran.stdout, ran.stderr) == (0, "", ""), f"run --log-assignments: {ran}")
    check({p.name for p in folder.iterdir()} <= {"step.txt", "a.log", "b.log"}, "something half-written is left")
text = (folder / "a.log").read_text()
check(etalon("run", *given, "--log-assignments").stdout == text, "the log on standard output is another than in the file")
check('step 1: h = matmul(x, w) @ "step.txt":4' in text and 'section "net"' in text and text.endswith("\nend\n"), f"the log is {text}")

same = etalon("log", "diff", "a.log", "b.log")
check(same.returncode == 0 and "0 of " in same.stdout, f"log diff: {same}")
as_json = json.loads(etalon("log", "diff", "a.log", "b.log", "--json").stdout)
check(as_json["within_bounds"] and as_json["logs"][0]["elements"] > 10 and as_json["logs"][1]["faults"] == [], f"log diff --json: {as_json}")

# A fault that was really computed: the log of a program whose fifth line is another, under the right program's text.
wrong = program.replace("a = relu(h)", "a = abs(h)")
(folder / "wrong").mkdir()
(folder / "wrong" / "step.txt").write_text(wrong)
numbers = {}
for line in etalon("run", "wrong/step.txt", *given[1:], "--backend", second, "--log-assignments").stdout.splitlines():
    name, colon, rest = line.strip().partition(" : ")
    if colon and not line.startswith("|"):
        numbers[name] = rest
written = etalon("run", *given, "--backend", second, "--log-assignments", "--log-limit", "0").stdout.splitlines()
for i, line in enumerate(written):
    name, colon, rest = line.strip().partition(" : ")
    if colon and not line.startswith("|") and name in numbers and name in {"a", "loss"}:
        written[i] = line[: len(line) - len(line.lstrip())] + name + " : " + numbers[name]
(folder / "faulty.log").write_text("\n".join(written) + "\n")
found = etalon("log", "diff", "a.log", "faulty.log")
check(found.returncode == 1 and found.stdout.startswith('step.txt:5: section "net", step 2: a = relu(h)\n  a[0, 1] is '), f"log diff of a fault: {found}")
as_json = json.loads(etalon("log", "diff", "a.log", "faulty.log", "--json").stdout)
check(not as_json["within_bounds"] and as_json["logs"][1]["faults"][0]["line"] == 5 and as_json["first_difference"]["line"] in (4, 5), f"as JSON: {as_json}")

# Pages, names, and what is refused.
page = etalon("run", *given, "--log-assignments=a,loss", "--log-format", "html").stdout
check(page.startswith("<!DOCTYPE html>") and "<script" not in page, f"the page is {page[:200]}")
named = etalon("run", *given, "--log-assignments=a").stdout
check("\n    a : f32[2, 2] = " in named and "\n    h : f32[2, 2] = " not in named, f"of one name: {named}")
refused("unknown value 'los'; did you mean 'loss'?", "run", *given, "--log-assignments=los")
refused("--log-format: unknown format 'htm'; did you mean 'html'?", "run", *given, "--log-assignments", "--log-format", "htm")
refused("--log-assignments is missing", "run", *given, "--log", "a.log")
refused("nowhere/a.log: the file cannot be written: No such file or directory", "run", *given, "--log-assignments", "--log", "nowhere/a.log")
refused("cuda: ", "run", *given, "--log-assignments", "--backend", "cuda")
refused("input x is f32[2, 3] and has no value", "run", "step.txt", "--log-assignments", "--log", "c.log")
check(not (folder / "c.log").exists(), "a log of a run that did not begin")
(folder / "cut.log").write_text(text[: len(text) // 2])
(folder / "changed.log").write_text(text.replace("h[0, 0] = ", "h[0, 0] = 1"))
refused("cut.log: the log is cut", "log", "diff", "a.log", "cut.log")
refused("changed.log: line ", "log", "diff", "changed.log", "a.log")
refused("missing.log: the file cannot be read: No such file or directory", "log", "diff", "a.log", "missing.log")
refused("step.txt: line 1: expected a log of Etalon", "log", "diff", "step.txt", "a.log")

# The example in the guide.
guide = (root / "docs" / "logs.md").read_text()
for shown in (text, found.stdout):
    for line in shown.splitlines():
        if line.startswith(("etalon log", "contract ", "specification ", "faulty.log (")):
            continue
        if build == "compiled" and shown is not text or line.startswith((" ", "section", "step", "given")):
            check(line in guide, f"docs/logs.md lacks the line {line!r}")
sys.exit(check.status(30))
