"""Holds an adapter to the definitions. Usage: conforms.py ETALON ADAPTER PACKAGE LEAST [argument of conform …]

It is asked about the operations that it describes, or those after --ops; at least LEAST must have been compared, and none may fail. Without
the package the test is skipped."""
import collections
import importlib
import json
import pathlib
import subprocess
import sys
import tempfile

etalon, adapter, package, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
try:
    importlib.import_module(package)
except ImportError as missing:
    print(f"skipped: {missing}; {pathlib.Path(adapter).parent}/install says how to get it")
    sys.exit(77)

described = subprocess.run([sys.executable, adapter], input='{"etalon":1,"request":"describe"}\n', capture_output=True,
                           text=True, check=True).stdout
words = sys.argv[5:]
if "--ops" not in words:
    words += ["--ops", ",".join(json.loads(described)["operations"])]
with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.jsonl"
    done = subprocess.run([etalon, "conform", "--backend", f"exec:{sys.executable} {adapter}", "--json", str(report), *words], capture_output=True, text=True)
    results = [r for r in map(json.loads, report.read_text().splitlines()) if r["kind"] == "result"]
passed = collections.Counter(r["operation"] for r in results if r["verdict"] == "pass")
print(done.stdout[-3000:], done.stderr[-1000:])
print(f"{len(passed)} operations compared, exit code {done.returncode}")
sys.exit(0 if done.returncode == 0 and len(passed) >= least else 1)
