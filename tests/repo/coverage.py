"""docs/coverage.md names only what exists, leaves no row open, and leaves out no operation; a row that says `here` names a
test that the build runs.

Usage: coverage.py ROOT ETALON BUILD_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys

root, command, build = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]


def output(*words, text=""):
    return subprocess.run(words, check=True, capture_output=True, text=True, input=text).stdout


listed = json.loads(output(command, "spec", "--json"))
operations = {d["name"] for d in (listed["definitions"] if isinstance(listed, dict) else listed)}
commands = set(re.findall(r"^  ([\w-]+)", output(command, "--help"), re.M))
described = json.loads(output(command, "serve", text='{"etalon":1,"request":"describe"}\n'))
types = set(described["dtypes"])
entries = {t["name"] for t in json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]}
# What sanitizers leave out runs in the second stage.
second_stage = re.search(r"ctest --preset gcc -R '\^\(([^)]*)\)\$'", (root / ".ci" / "run").read_text())
later = second_stage.group(1)
states = {"here", "planned", "not carried over"}
faults, mentioned, rows, tests = [], set(), 0, 0


def cases_of(entry):
    """Name and tags of every Catch2 case of a test program that runs without being asked for."""
    cases = []
    for path in (root / "tests" / entry).rglob("*.cpp"):
        found = re.findall(r'TEST_CASE\("((?:[^"\\]|\\.)*)"(?:,\s*"([^"]*)")?', path.read_text())
        cases += [(name, tags) for name, tags in found if "[." not in tags]
    return cases


def check_name(where, name):
    """A quoted lower-case word is an operation, `etalon x` a command, and anything with a slash a file."""
    if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        if name in operations:
            mentioned.add(name)
        elif name not in {"let", "inline", "verify", "here", "planned"}:
            faults.append(f"{where}: no operation {name}")
    elif re.match(r"etalon \w+", name):
        if name.split()[1] not in commands:
            faults.append(f"{where}: no command {name}")
    elif re.fullmatch(r"[\w.-]+(/[\w.-]+)+", name) and not (root / name).exists():
        faults.append(f"{where}: no file {name}")


def check_test(where, name):
    """`entry`, `entry[tag]` or `entry: case`."""
    entry, tag, case = re.fullmatch(r"([\w.]+)(\[\w+\])?(?:: (.+))?", name).groups()
    if entry not in entries and not re.fullmatch(later, entry):
        faults.append(f"{where}: ctest has no {entry}")
    elif tag and not any(tag in tags for _, tags in cases_of(entry)):
        faults.append(f"{where}: {entry} has no case with the tag {tag}")
    elif case and case not in {name for name, _ in cases_of(entry)}:
        faults.append(f"{where}: {entry} has no case '{case}'")


for number, line in enumerate((root / "docs/coverage.md").read_text().splitlines(), 1):
    if not line.startswith("|") or re.match(r"\|\s*(capability|-)", line):
        continue
    where = f"docs/coverage.md:{number}"
    quoted = re.sub(r"`[^`]*`", lambda m: m.group().replace("|", "\0"), line)
    cells = [c.strip() for c in quoted.strip("|").split("|")]
    rows += 1
    if len(cells) != 4 or not all(cells):
        faults.append(f"{where}: a row has four cells, none of them empty")
        continue
    if cells[1] not in states:
        faults.append(f"{where}: the state is {cells[1]}, want one of {', '.join(sorted(states))}")
    if cells[1] != "here":
        continue
    for name in re.findall(r"`([^`]+)`", cells[2]):
        check_name(where, name)
    for word in re.findall(r"\b(?:bf|fp|[fiu])\d+\b", re.sub(r"`[^`]*`", "", cells[2])):
        if word not in types:
            faults.append(f"{where}: no element type {word}")
    named = re.findall(r"`([^`]+)`", cells[3])
    if not named:
        faults.append(f"{where}: it says here, and no test would fail if it were not")
    for name in named:
        check_test(where, name)
        tests += 1
for name in sorted(operations - mentioned):
    faults.append(f"docs/coverage.md: no row names the operation {name}")
print("\n".join(faults))
print(f"{rows} rows, {len(mentioned)} operations, {tests} tests, {len(faults)} faults")
sys.exit(1 if faults or rows < 100 or tests < 100 else 0)
