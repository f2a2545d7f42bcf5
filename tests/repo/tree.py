"""The top level is what the design names, and no folder is a drawer for odds and ends."""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
expected = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "spec", "reference", "compiled", "cuda",
            "conformance", "training", "proofs-notes", "tests", "docs", "tools"}
files = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
files = [f for f in files if f]
faults = []
top = {f.split("/")[0] for f in files if not f.startswith(".")}
faults += [f"{name}: not at the top level of the design" for name in sorted(top - expected)]
faults += [f"{name}: missing at the top level" for name in sorted(expected - top)]
for f in files:
    stem = pathlib.Path(f).stem
    if stem in {"utils", "util", "helpers", "helper", "common", "misc"}:
        faults.append(f"{f}: a file is named after its one idea")
    if f.endswith((".hpp", ".h")) and (root / f).is_file() and not f.startswith("tests/"):
        text = (root / f).read_text()
        if f.endswith(".hpp") and "#pragma once" not in text:
            faults.append(f"{f}: no #pragma once")
        if "\\file" not in text:
            faults.append(f"{f}: does not open with what it is")
print("\n".join(faults))
print(f"{len(files)} files, {len(faults)} faults")
sys.exit(1 if faults or len(files) < 50 else 0)
