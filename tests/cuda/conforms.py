"""The emulated GPU under the quick tier. Usage: conforms.py ETALON BACKEND SHARE [argument of conform …]

None may fail, and of one SHAREth of all operations all that is asked must have been compared: values, derivatives of every mode, steps, programs,
layouts."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

etalon, backend, share, words = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
with tempfile.TemporaryDirectory() as folder:
    report = pathlib.Path(folder) / "report.jsonl"
    done = subprocess.run([etalon, "conform", "--backend", backend, "--json", str(report), *words], capture_output=True, text=True)
    lines = [json.loads(line) for line in report.read_text().splitlines()]
header, summary = lines[0], lines[-1]
print(done.stdout[-3000:], done.stderr[-1000:])
kinds = collections.Counter((r["check"], r["dtype"]) for r in lines if r["kind"] == "result" and r["verdict"] == "pass")
print(", ".join(f"{check} {dtype} {count}" for (check, dtype), count in sorted(kinds.items())))

wrong = []
if done.returncode != 0 or not summary["conforms"]:
    wrong.append(f"exit code: expected 0, found {done.returncode}")
for what in ("fail", "crashed", "timeout", "unsupported", "waived"):
    if summary[what] != 0:
        wrong.append(f"{what}: expected 0 results, found {summary[what]}")
if summary["operations_compared"] < header["operations_known"] // share:
    wrong.append(f"operations: expected one {share}th of {header['operations_known']}, found {summary['operations_compared']}")
if summary["modes_compared"] != ["forward", "jvp", "vjp", "jvp_of_vjp"]:
    wrong.append(f"modes: expected four, found {summary['modes_compared']}")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
