"""Holds an adapter in JavaScript to the definitions of operations that conform. Usage:
javascript.py ETALON COMMAND PACKAGE LEAST argument of conform …

COMMAND is the adapter and its own arguments. At least LEAST operations must have been compared, and none may fail.
Without Node.js or the package the test is skipped."""
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

etalon, command, package, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
adapter = pathlib.Path(command.split()[0])
if not shutil.which("node"):
    print("skipped: node is not installed")
    sys.exit(77)
found = subprocess.run(["node", "-e", f"require.resolve({json.dumps(package)}, {{paths: [{json.dumps(str(adapter.parent))}]}})"],
                       capture_output=True, check=False)
if found.returncode:
    print(f"skipped: {package} is not installed; {adapter.parent}/install gets it")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.jsonl"
    done = subprocess.run([etalon, "conform", "--backend", f"exec:node {command}", "--json", str(report), *sys.argv[5:]],
                          capture_output=True, text=True, check=False)
    results = [r for r in map(json.loads, report.read_text().splitlines()) if r["kind"] == "result"]
passed = collections.Counter(r["operation"] for r in results if r["verdict"] == "pass")
print(done.stdout[-3000:], done.stderr[-1000:])
print(f"{len(passed)} operations compared, exit code {done.returncode}")
sys.exit(0 if done.returncode == 0 and len(passed) >= least else 1)
