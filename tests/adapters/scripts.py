"""Runs the scripts that an adapter writes of its counterexamples, without Etalon, and compares what they print with what
the suite says was got. Usage: scripts.py ETALON COMMAND PACKAGE LEAST [argument of conform …]

COMMAND is an adapter in Python or JavaScript, and its own arguments, or a plug-in, whose package is a library of C++.
At least LEAST scripts must print that number. Without the package the test is skipped."""
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

etalon, command, package, least = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
adapter = pathlib.Path(command.split()[0])
# What runs a script, or compiles it, how its file is called, and a script that asks for the package.
tool, name, asks = {".py": (sys.executable, "script.py", f"import {package}"),
                    ".js": ("node", "script.cjs", f"require({json.dumps(package)})"),
                    ".so": ("c++", "script.cpp", f"#include <{package}.hpp>\nint main() {{}}\n")}[adapter.suffix]
compiled = adapter.suffix == ".so"
backend = f"plugin:{command}" if compiled else f"exec:{tool} {command}"
environment = {**os.environ, "NODE_PATH": str(adapter.parent / "node_modules"), "OMP_NUM_THREADS": "1"}
if not shutil.which(tool):
    print(f"skipped: {tool} is not installed")
    sys.exit(77)


def ran(text):
    with tempfile.TemporaryDirectory() as folder:
        file, program = pathlib.Path(folder) / name, pathlib.Path(folder) / "program"
        file.write_text(text)
        words = [tool, "-std=c++17", "-O0", file, "-o", program, f"-l{package}"] if compiled else [tool, file]
        for line in [words, [program]] if compiled else [words]:
            done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
            if done.returncode:
                break
        return done


if ran(asks).returncode:
    print(f"skipped: {package} is not installed; {adapter.parent}/install gets it")
    sys.exit(77)

done = subprocess.run([etalon, "conform", "--backend", backend, *sys.argv[5:]], capture_output=True, text=True)
got, blocks, within = None, [], False  # what was got in the counterexample at hand; pairs of that and lines of a script
for line in done.stdout.splitlines():
    if not line.startswith(" "):
        got = None
    told = re.match(r"    \S+\[\d+\]: expected .*, got ([^\s;]+)(?:; .*)?$", line)
    got = told[1] if told and not within else got
    if line == "  script, without Etalon:":
        within = True
        blocks.append((got, []))
    elif within and line.startswith("    "):
        blocks[-1][1].append(line[4:])
    else:
        within = False

WORDS = {"None": "0", "null": "0", "True": "1", "true": "1", "False": "0", "false": "0", "Infinity": "inf", "-Infinity": "-inf"}


def number(printed):
    """The last word; JavaScript writes large integers with an n."""
    word = re.sub(r"^(-?\d+)n$", r"\1", (printed.split() or ["nothing"])[-1])
    return float(WORDS.get(word, word))


def same(value, got):
    """As numbers of f32 or f16, in whose digits the suite tells them."""
    if math.isnan(value) or got.endswith("nan"):
        return math.isnan(value) and got.endswith("nan")
    half = abs(float(got)) < 65520 and struct.pack("<d", value) == struct.pack("<d", struct.unpack("<e", struct.pack("<e", float(got)))[0])
    return half or struct.pack("<f", value) == struct.pack("<f", float(got))


right = faults = 0
for got, lines in blocks:
    if got is None:  # no number convicts
        continue
    script = "\n".join(lines) + "\n"
    printed = ran(script)
    try:
        holds = same(number(printed.stdout), WORDS.get(got, got))
    except ValueError:
        holds = False
    right += holds
    faults += not holds
    if not holds:
        print(f"the suite got {got}, the script says {printed.stdout}{printed.stderr[-600:]}:\n{script}")
print(f"{right} of {right + faults} scripts print what was got" if right + faults else done.stdout[-2000:] + done.stderr[-2000:])
sys.exit(0 if right >= least and not faults else 1)
