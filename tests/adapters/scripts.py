"""Runs the scripts that an adapter writes of its counterexamples, without Etalon, and compares what they print with what
the suite says was got. Usage: scripts.py ETALON ADAPTER PACKAGE LEAST [argument of conform …]

At least LEAST scripts must print that number. Without the package the test is skipped."""
import contextlib
import importlib
import io
import math
import re
import struct
import subprocess
import sys

etalon, adapter, package, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
try:
    importlib.import_module(package)
except ImportError as missing:
    print(f"skipped: {missing}; the adapter's install script says how to get it")
    sys.exit(77)

done = subprocess.run([etalon, "conform", "--backend", f"exec:{sys.executable} {adapter}", *sys.argv[5:]], capture_output=True, text=True)
got, blocks, within = None, [], False  # what was got in the counterexample at hand; pairs of that and lines of a script
for line in done.stdout.splitlines():
    if not line.startswith(" "):
        got = None
    told = re.match(r"    \S+\[\d+\]: expected .*, got (\S+)$", line)
    got = told[1] if told and not within else got
    if line == "  script, without Etalon:":
        within = True
        blocks.append((got, []))
    elif within and line.startswith("    "):
        blocks[-1][1].append(line[4:])
    else:
        within = False


def same(value, got):
    """As numbers of f32, in which the suite tells them."""
    if not isinstance(value, float) or math.isnan(value) or got.endswith("nan"):
        return isinstance(value, float) and math.isnan(value) and got.endswith("nan")
    return struct.pack("<f", value) == struct.pack("<f", float(got))


right = faults = 0
for got, lines in blocks:
    if got is None:  # no number convicts
        continue
    script = "\n".join(lines) + "\n"
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(script, "script", "exec"), {})
        value = float(printed.getvalue().split()[-1].replace("None", "0").replace("True", "1").replace("False", "0"))
    except Exception as failure:
        value = f"{type(failure).__name__}: {failure}"
    right += same(value, got)
    faults += not same(value, got)
    if not same(value, got):
        print(f"the suite got {got}, the script says {value!r}:\n{script}")
print(f"{right} of {right + faults} scripts print what was got" if right + faults else done.stdout[-2000:] + done.stderr[-2000:])
sys.exit(0 if right >= least and not faults else 1)
