"""Writes the tables of docs/contracts.md: the fields (`etalon contract fields`) and the shipped contracts
(spec/contract/profiles). With --check it only compares, holds docs/contract.schema.json to `etalon contract schema`,
and holds the CPU backend's contract to the measurements on the page.

Usage: contracts.py ROOT ETALON [--check]
"""
import json
import pathlib
import re
import subprocess
import sys

root, command, check = pathlib.Path(sys.argv[1]), sys.argv[2], "--check" in sys.argv
faults = []


def etalon(*words):
    return subprocess.run([command, "contract", *words], check=True, capture_output=True, text=True).stdout


def functions(contract, dtype):
    """`exp 2, log 1`: k0, with what is more than a number of units."""
    words = []
    for name, bound in sorted(contract.get("functions", {}).get(dtype, {}).items()):
        text = f"{name} {bound['k0']:g}"
        if bound.get("k1"):
            text += f" + {bound['k1']:g}·abs(x)"
        if bound.get("absolute"):
            text += f" or {bound['absolute']:g}"
        words.append(text)
    return ", ".join(words) or f"all {contract.get('default_function', {}).get('k0', 1):g}"


def profiles():
    lines = ["| contract | functions in f32, ulps | in f64 | else |", "|---|---|---|---|"]
    files = sorted((root / "spec/contract/profiles").glob("*.json"))
    for path in files:
        contract = json.loads(path.read_text())
        if contract["name"] != path.stem:
            faults.append(f"{path.name}: its name is {contract['name']}")
        others = [f"`{key}` {json.dumps(value)}" for key, value in contract.items()
                  if key not in ("name", "about", "functions", "default_function")]
        if "default_function" in contract:
            others.insert(0, f"other functions {contract['default_function']['k0']:g}")
        lines.append(f"| `{contract['name']}` | {functions(contract, 'f32')} | {functions(contract, 'f64')} | {'; '.join(others)} |")
    return "\n".join(lines) + "\n", len(files)


def with_table(text, name, table):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        faults.append(f"docs/contracts.md: no place for the table of {name}")
        return text
    head, rest = text.split(begin)
    return head + begin + table + end + rest.split(end)[1]


def measured(text):
    """Rows `| exp | 0.987591 | 0x… |` of the page: the contract may not promise less, nor a hundredth more."""
    rows = re.findall(r"^\| (\w+) \| (\d\.\d+) \| `-?0x", text, re.M)
    promised = json.loads((root / "spec/contract/profiles/cpu.json").read_text())["functions"]["f32"]
    for name, worst in rows:
        if not float(worst) <= promised[name]["k0"] <= float(worst) + 0.01:
            faults.append(f"cpu.json: {name} promises {promised[name]['k0']} ulp, measured {worst}")
    if len(rows) < 14:
        faults.append("docs/contracts.md: fewer than 14 functions measured at every number")


page = root / "docs/contracts.md"
text = page.read_text()
table, count = profiles()
new = with_table(with_table(text, "fields", etalon("fields")), "profiles", table)
if check:
    if new != text:
        faults.append("docs/contracts.md is not what docs/contracts.py writes: run it")
    if (root / "docs/contract.schema.json").read_text() != etalon("schema"):
        faults.append("docs/contract.schema.json is not what `etalon contract schema` prints: write it again")
    measured(text)
else:
    page.write_text(new)
    (root / "docs/contract.schema.json").write_text(etalon("schema"))
listed = {row["name"] for row in json.loads(etalon("list", "--json"))}
if listed != {path.stem for path in (root / "spec/contract/profiles").glob("*.json")}:
    faults.append(f"etalon contract list names {sorted(listed)}")
print("\n".join(faults))
print(f"{count} contracts, {len(faults)} faults")
sys.exit(1 if faults or count < 9 else 0)
