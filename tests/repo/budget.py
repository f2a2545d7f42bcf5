"""A unit that calls every operation of the typed library once compiles within its budget of processor seconds.

The calls are the sample calls of `etalon explain`, with the shapes as types and reals as f64: what users of the whole library would pay.
Usage: budget.py ROOT ETALON COMPILER SECONDS
"""
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

root, command, compiler, budget = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4])
types = {"f32": "double", "f64": "double", "i64": "std::int64_t", "i32": "std::int32_t", "bool": "bool"}
# C++ names of operations whose own names the language or its library has taken.
headers = "".join(p.read_text() for p in sorted((root / "spec/library").glob("*.hpp")))
defined = dict(re.findall(r'struct (\w+) \{[^"]*?text = R"\((?:--[^\n]*\n)*(\w+)\(', headers))
names = {defined.get(text): name for text, name in re.findall(r"constexpr Operation<(\w+)> (\w+)\{\};", headers)}


def operand(text):
    if text == "absent":
        return "etalon::spec::absent"
    dtype, extents = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
    return f"std::declval<const etalon::reference::Tensor<{types[dtype]}, etalon::Shape<{extents}>>&>()"


def call(name):
    shown = subprocess.run([command, "explain", name], capture_output=True, text=True).stdout
    found = re.search(r"^  " + name + r"\((.*?)\)(?: \{(.*)\})? -> ", shown, re.M)
    if not found:
        return None
    operands = re.findall(r"absent|\w+\[[^\]]*\]", found.group(1))
    attributes = re.sub(r" = ", "=", found.group(2) or "").replace('"', "").replace("dtype=f32", "dtype=f64")
    if not operands:
        return None
    function = f"etalon::ops::{names.get(name, name)}" + (f'.with<"{attributes}">' if attributes else "")
    return f"using of_{name} = decltype({function}({', '.join(map(operand, operands))}));"


listed = [n for line in (root / "docs/operations.txt").read_text().splitlines() if not line.startswith("#")
          for n in line.split(":")[1].split()]
calls = {n: call(n) for n in listed}
lines = [c for c in calls.values() if c]
with tempfile.TemporaryDirectory() as folder:
    unit = pathlib.Path(folder) / "calls.cpp"
    unit.write_text('#include "reference/tensor.hpp"\n#include "spec/library/operations.hpp"\n\n#include <cstdint>\n#include <utility>\n\n' +
                    "\n".join(lines) + "\n")
    for attempt in range(3):  # what else the machine does only adds
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([compiler, "-std=c++20", "-O2", "-I", str(root), "-c", str(unit), "-o", str(unit.with_suffix(".o"))],
                              capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime
        if done.returncode != 0 or seconds <= budget:
            break
skipped = sorted(n for n, c in calls.items() if not c)
print(f"{len(lines)} operations called, {seconds:.1f} of {budget:.0f} processor seconds, {after.ru_maxrss / 1024:.0f} MiB")
print("not called, because they take no operand:", ", ".join(skipped))
if done.returncode != 0:
    print(done.stderr[:4000])
sys.exit(1 if done.returncode != 0 or seconds > budget or len(lines) < 165 else 0)
