"""An operation is its definition, its golden cases and its note: each is there, and nothing else names it."""
import json
import pathlib
import re
import subprocess
import sys

root, command = pathlib.Path(sys.argv[1]), sys.argv[2]
listed = json.loads(subprocess.run([command, "spec", "--json"], check=True, capture_output=True, text=True).stdout)
operations = listed["definitions"] if isinstance(listed, dict) else listed
names = sorted(d["name"] for d in operations)
notes = (root / "proofs-notes/operations.md").read_text()
headings = set(re.findall(r"^## (\w+)$", notes, re.M))
faults = []
for name in names:
    if not (root / f"tests/golden/{name}.txt").is_file():
        faults.append(f"{name}: tests/golden/{name}.txt is missing")
    if name not in headings:
        faults.append(f"{name}: proofs-notes/operations.md has no section ## {name}")
for extra in sorted(headings - set(names)):
    faults.append(f"{extra}: proofs-notes/operations.md has a section for it, but no such operation exists")
for path in sorted((root / "tests/golden").glob("*.txt")):
    if path.stem not in names:
        faults.append(f"tests/golden/{path.name}: no such operation exists")

# Words that the notation itself owns: scalar primitives, reductions, and words that are also ordinary keys.
scalar = set(re.findall(r'"(\w+)"', (root / "spec/scalar.hpp").read_text()))
# `pow` is what contracts and libraries call ^, `fma` a feature of processors.
notation = {"where", "size", "slice", "full", "gather", "uniform", "normal", "mean", "add", "sub", "mul", "div", "neg", "detach",
            "pow", "fma", "constant", "zeros"}
named = [n for n in names if n not in scalar and n not in notation]
literal = re.compile(r'"(' + "|".join(map(re.escape, named)) + r')"')
for folder in ("spec", "reference", "compiled", "cuda", "conformance"):
    for path in sorted((root / folder).rglob("*")):
        # `interchange` holds tables from other formats' names to ours.
        if path.suffix not in {".hpp", ".cpp", ".h"} or not {"library", "adapters", "interchange"}.isdisjoint(path.parts):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            for found in literal.findall(code):
                faults.append(f"{path.relative_to(root)}:{number}: names the operation {found}")
print("\n".join(faults))
print(f"{len(names)} operations, {len(faults)} faults")
sys.exit(1 if faults or len(names) < 41 else 0)
