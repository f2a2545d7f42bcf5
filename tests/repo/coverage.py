"""docs/coverage.md names only what exists, leaves no row open, and leaves out no operation."""
import json
import pathlib
import re
import subprocess
import sys

root, command = pathlib.Path(sys.argv[1]), sys.argv[2]


def output(*arguments):
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout


listed = json.loads(output("spec", "--json"))
operations = {d["name"] for d in (listed["definitions"] if isinstance(listed, dict) else listed)}
commands = set(re.findall(r"^  (\w+)", output("--help"), re.M))
states = {"here", "planned", "not carried over"}
faults, mentioned, rows = [], set(), 0


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


for number, line in enumerate((root / "docs/coverage.md").read_text().splitlines(), 1):
    if not line.startswith("|") or re.match(r"\|\s*(capability|-)", line):
        continue
    where = f"docs/coverage.md:{number}"
    quoted = re.sub(r"`[^`]*`", lambda m: m.group().replace("|", "\0"), line)
    cells = [c.strip() for c in quoted.strip("|").split("|")]
    rows += 1
    if len(cells) != 3 or not all(cells):
        faults.append(f"{where}: a row has three cells, none of them empty")
        continue
    if cells[1] not in states:
        faults.append(f"{where}: the state is {cells[1]}, want one of {', '.join(sorted(states))}")
    if cells[1] == "here":
        for name in re.findall(r"`([^`]+)`", cells[2]):
            check_name(where, name)
for name in sorted(operations - mentioned):
    faults.append(f"docs/coverage.md: no row names the operation {name}")
print("\n".join(faults))
print(f"{rows} rows, {len(mentioned)} operations, {len(faults)} faults")
sys.exit(1 if faults or rows < 100 else 0)
