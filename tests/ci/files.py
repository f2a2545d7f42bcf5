"""Runs what the GitHub Action and the GitLab template would run, for a backend that conforms, one that answers zeros, and one that is not
there: exit statuses, reports, summary, and annotations that GitHub can read, at most ten. Usage: files.py ETALON ROOT"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command"))
from checks import Checks  # noqa: E402

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-yaml")
    sys.exit(77)

etalon, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
check = Checks()
top = pathlib.Path(tempfile.mkdtemp())
(top / "bin").mkdir()
(top / "bin/etalon").symlink_to(etalon)
clean = {k: v for k, v in os.environ.items() if not k.startswith(("ETALON_", "CI_"))}
# Few operations, so that the runs are short; options that neither file sets.
base = {**clean, "PATH": f"{top / 'bin'}:{os.environ['PATH']}", "ETALON_CONFORM_MODES": "forward", "ETALON_CONFORM_CHECKS": "value",
        "ETALON_CONFORM_DTYPES": "f32,f64", "ETALON_CONFORM_MEMORY": "0"}
zeros = f"exec:{sys.executable} {root / 'tests/ci/zeros.py'} {etalon}"
few, many = "neg,exp", "neg,exp,add,sub,tanh,sin,sqrt,cosh"


def shell(script, environment, folder):
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


# GitHub: the composite action, with its inputs filled in.
action = yaml.safe_load((root / ".github/actions/etalon/action.yml").read_text())
steps = action["runs"]["steps"]
check(action["runs"]["using"] == "composite" and all("shell" in s for s in steps if "run" in s),
      "not a composite action whose steps name a shell")
check([s["uses"].split("@")[0] for s in steps if "uses" in s] == ["actions/upload-artifact"], "other actions are used")
for text in re.findall(r"\$\{\{ *(.*?) *\}\}", (root / ".github/actions/etalon/action.yml").read_text()):
    check(re.fullmatch(r"inputs\.(\w+)", text) and text.split(".")[1] in action["inputs"], f"{text}: no input")
for name, given in action["inputs"].items():
    check(given.get("description") and (given.get("required") or "default" in given), f"input {name}: {given}")
for step in steps:
    # What a caller passes must not become part of the script.
    check("${{" not in step.get("run", ""), f"{step['name']}: an expression inside the script")
# It installs the command's package and no other; apt is not asked here, tests/packages/try does.
(top / "packages").mkdir()
for name in ("etalon_1_amd64.deb", "etalon-doc_1_all.deb", "libetalon-dev_1_amd64.deb"):
    (top / "packages" / name).write_text("")
(top / "bin/apt-get").write_text(f'#!/bin/sh\nfor word; do echo "$word"; done >> {top}/asked\n')
(top / "bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
for name in ("apt-get", "sudo"):
    (top / "bin" / name).chmod(0o755)
installing = next(s for s in steps if "apt-get" in s.get("run", ""))
ran = shell(installing["run"], {**base, "PACKAGES": "packages"}, top)
asked = (top / "asked").read_text().split() if (top / "asked").is_file() else []
debs = [w for w in asked if w.endswith(".deb")]
check(ran.returncode == 0 and debs == [str(top / "packages/etalon_1_amd64.deb")], f"installs {asked}: {ran}")
# What docs/ci.md passes to it, it takes.
callers = 0
for code in re.findall(r"^```yaml\n(.*?)^```$", (root / "docs/ci.md").read_text(), re.M | re.S):
    for job in yaml.safe_load(code).get("jobs", {}).values():
        for step in job["steps"]:
            if step.get("uses", "").endswith(".github/actions/etalon"):
                callers += 1
                check(set(step["with"]) <= set(action["inputs"]) and step["with"]["backend"], f"docs/ci.md passes {step['with']}")
check(callers == 1, f"docs/ci.md calls the action {callers} times")
held = next(s for s in steps if "annotations.py" in s.get("run", ""))


def act(name, operations, **inputs):
    folder = top / name
    folder.mkdir()
    values = {key: str(given.get("default", "")) for key, given in action["inputs"].items()} | inputs
    environment = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], value) for key, value in held["env"].items()}
    summary = folder / "step-summary.md"
    summary.write_text("")
    ran = shell(held["run"], {**base, **environment, "ETALON_CONFORM_OPS": operations, "GITHUB_STEP_SUMMARY": str(summary),
                              "GITHUB_ACTION_PATH": str(root / ".github/actions/etalon")}, folder)
    return ran, [line for line in ran.stdout.splitlines() if line.startswith("::")], summary.read_text(), folder / values["reports"]


ran, commands, summary, reports = act("right", few, backend="reference")
check(ran.returncode == 0 and commands == [], f"a backend that conforms: {ran}")
check("conforms" in summary, f"its summary: {summary!r}")
for file in ("run.jsonl", "report.html", "junit.xml", "summary.md"):
    check((reports / file).is_file() and (reports / file).stat().st_size > 0, f"{file} is not among the artifacts")
ran, commands, summary, reports = act("few", few, backend=zeros)
check(ran.returncode == 1 and 2 <= len(commands) <= 4, f"zeros: status {ran.returncode}, {commands} {ran.stderr}")
for line in commands:
    check(re.fullmatch(r"::error title=[^:,\n]*(?:%2C[^:,\n]*)*::[^\n]+", line), f"GitHub cannot read {line!r}")
    case = re.search(r"--replay '([^']+)'", line)
    check(case and f'"id":"{case[1]}"' in (reports / "run.jsonl").read_text(), f"{line!r} names no case of the run")
    check(re.search(r"y\[\d+\]: got 0\b", line), f"{line!r} does not say that a zero came")
ran, commands, summary, reports = act("many", many, backend=zeros)
check(ran.returncode == 1 and len(commands) == 10 and commands[-1].startswith("::error title=more::"),
      f"many failures: {commands} {ran.stderr}")
# Waivers and a share reach the command.
waivers = [{"operation": name, "reason": "zeros", "expires": "2999-01-01"} for name in few.split(",")]
(top / "waivers.json").write_text(json.dumps({"schema": 1, "waivers": waivers}))
ran, commands, _, _ = act("waived", few, backend=zeros, waivers=str(top / "waivers.json"))
check(ran.returncode == 0 and commands == [], f"waived: {ran}")
ran, _, _, reports = act("share", few, backend="reference", shard="2/2")
asked = {r["operation"] for r in map(json.loads, (reports / "run.jsonl").read_text().splitlines()) if r["kind"] == "result"}
check(ran.returncode == 0 and len(asked) == 1, f"a share asks {asked}")
ran, commands, summary, _ = act("absent", few, backend="nobody")
check(ran.returncode == 2 and len(commands) == 1 and summary == "", f"no such backend: {ran}")
# A title and a message cannot become commands of their own.
hostile = {"kind": "result", "verdict": "fail", "id": "x", "operation": "a::b,c\n::error::", "check": "value", "dtype": "f32",
           "why": "one\n::warning::two %"}
(top / "hostile.jsonl").write_text(json.dumps(hostile) + "\n")
annotations = [sys.executable, root / ".github/actions/etalon/annotations.py"]
ran = subprocess.run([*annotations, top / "hostile.jsonl"], capture_output=True, text=True)
check(ran.stdout.count("\n") == 1 and all(part in ran.stdout for part in ("title=a%3A%3Ab%2Cc%0A", "one%0A::warning", "%25")), f"escapes: {ran}")

# GitLab: the template's job.
job = yaml.safe_load((root / "docs/ci/etalon.gitlab-ci.yml").read_text())[".etalon"]


def pipeline(name, **variables):
    folder = top / name
    folder.mkdir()
    ran = shell("\n".join(job["script"]), {**base, **job["variables"], "ETALON_CONFORM_OPS": few, **variables}, folder)
    return ran, folder


ran, folder = pipeline("lab", ETALON_CONFORM_BACKEND="reference")
check(ran.returncode == 0 and {"run1.jsonl", "report1.html", "junit.xml"} <= {f.name for f in folder.iterdir()}, f"GitLab: {ran}")
ran, folder = pipeline("lab2", ETALON_CONFORM_BACKEND=zeros, CI_NODE_INDEX="2", CI_NODE_TOTAL="2")
check(ran.returncode == 1 and (folder / "run2.jsonl").is_file(), f"GitLab, zeros, the second of two jobs: {ran}")
for pattern in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]:
    check(list(folder.glob(pattern)), f"GitLab keeps {pattern}, which is not written")
sys.exit(check.status(30))
