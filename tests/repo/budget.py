"""A unit that calls every operation of the typed library once compiles within its budget: so many times what a unit of the
standard library's regular expressions takes on the same machine, which may be slow or busy.

The calls are the sample calls of `etalon explain`, with the shapes as types and reals as f64: what users of the whole library would pay.
Usage: budget.py ROOT ETALON COMPILER TIMES
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


def compiled(source):
    """The processor seconds that a unit takes, and how its compiler ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([compiler, "-std=c++20", "-O2", "-I", str(root), "-c", str(source), "-o", str(source.with_suffix(".o"))],
                          capture_output=True, text=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime, done


with tempfile.TemporaryDirectory() as folder:
    unit = pathlib.Path(folder) / "calls.cpp"
    unit.write_text('#include "reference/tensor.hpp"\n#include "spec/library/operations.hpp"\n\n#include <cstdint>\n#include <utility>\n\n' +
                    "\n".join(lines) + "\n")
    yardstick = pathlib.Path(folder) / "yardstick.cpp"
    yardstick.write_text('#include <regex>\n#include <string>\n\nbool matches(const std::string& s) { return std::regex_match(s, std::regex("a*b")); }\n')
    for attempt in range(3):  # what else the machine does only adds
        measure, measured = compiled(yardstick)
        if measured.returncode != 0:
            sys.exit(f"the yardstick does not compile: {measured.stderr[:1000]}")
        seconds, done = compiled(unit)
        if done.returncode != 0 or seconds <= budget * measure:
            break
skipped = sorted(n for n, c in calls.items() if not c)
print(f"{len(lines)} operations called, {seconds / measure:.1f} of {budget:g} times what regular expressions take, {seconds:.1f} processor seconds")
print("not called, because they take no operand:", ", ".join(skipped))
if done.returncode != 0:
    print(done.stderr[:4000])
sys.exit(1 if done.returncode != 0 or not seconds <= budget * measure or len(lines) < 165 else 0)
