"""Hostile adapters: whatever a process does, the run ends with a whole report, the spoiled questions are findings of the
right kind, and every other question is judged as if nothing had happened. Usage: isolation.py ETALON [sanitized]

The shadow memory of a sanitized build is larger than any limit: there nobody is asked to run out of memory."""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from checks import Checks

etalon = sys.argv[1]
sanitized = "sanitized" in sys.argv[2:]
adapter = pathlib.Path(__file__).with_name("hostile_adapter.py")
check = Checks()

# What the spoiled questions become; the rest of the kinds fail. Whether the end of a closed output is seen at once
# hangs on the shell, which may hold it open.
VERDICTS = {kind: {"crashed"} for kind in ("crash", "abort", "exit", "exit_well", "hog", "partial_line")}
VERDICTS |= {"hang": {"timeout"}, "close_output": {"crashed", "timeout"}}


def adapter_words(kind):
    return f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(adapter))} {kind} {shlex.quote(etalon)}"


def conform(backend, *words):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.jsonl"
        ran = subprocess.run([etalon, "conform", "--backend", backend, "--ops", "relu", "--modes", "forward", "--dtypes",
                              "f32", "--timeout", "4", "--memory", "0" if sanitized else "256", "--json", str(path), *words],
                             capture_output=True, text=True, timeout=300)
        lines = path.read_text().splitlines() if path.exists() else []
        return ran, [json.loads(line) for line in lines]


def verdicts(report):
    return {line["id"]: line["verdict"] for line in report if line["kind"] == "result"}


def held(kind, honest):
    ran, report = conform(adapter_words(kind), "--jobs", "1")
    check(ran.returncode == 1, f"{kind}: expected exit 1, found {ran.returncode}: {ran.stderr[:300]} {ran.stdout[-300:]}")
    check(bool(report) and report[-1]["kind"] == "summary", f"{kind}: no whole report")
    found = verdicts(report)
    check(found.keys() == honest.keys(), f"{kind}: expected {len(honest)} results, found {len(found)}")
    spoiled = {name for name in found if found[name] != honest.get(name)}
    kinds = {found[name] for name in spoiled}
    expected = VERDICTS.get(kind, {"fail"})
    check(kinds and kinds <= expected, f"{kind}: expected {sorted(expected)}, found {sorted(kinds)}")
    # Every twenty-fifth question of a process; a case may take two.
    check(0 < len(spoiled) <= len(honest) / 4, f"{kind}: {len(spoiled)} of {len(honest)} results are spoiled")


kinds = subprocess.run([sys.executable, str(adapter), "list", etalon], capture_output=True, text=True).stdout.split()
if sanitized:
    kinds.remove("hog")
check(len(kinds) >= 15, f"expected 15 kinds of hostility, found {len(kinds)}")
# In a process too: one in ours is asked about no layouts.
_, honest_report = conform(f"exec:{shlex.quote(etalon)} serve --backend reference")
honest = verdicts(honest_report)
check(len(honest) > 10 and set(honest.values()) == {"pass"}, f"the reference itself: {honest}")
# They mostly wait.
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda kind: held(kind, honest), kinds))

for command, words in (("exec:true", "exit status 0"), ("exec:exit 7", "exit status 7"), ("exec:echo hello", "description"),
                       ("exec:no_such_program_anywhere", "exit status 127"), ("exec:", "exit status 0")):
    ran, report = conform(command)
    check((ran.returncode, report) == (2, []) and words in ran.stderr and ran.stderr.count("\n") == 1,
          f"{command}: expected exit 2 and {words!r}, found {ran.returncode} {ran.stderr!r}")

ran, report = conform(adapter_words("crash"), "--jobs", "2")
again, other = conform(adapter_words("crash"), "--jobs", "2")
check(len(report) == len(other) > 0, "two runs of a crashing adapter differ in length")

sys.exit(check.status(60, f"{len(kinds)} hostile adapters"))
