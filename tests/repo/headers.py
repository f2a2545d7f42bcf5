"""Every header compiles alone.

The header that its own .cpp includes first is compiled alone by the build.
"""
import concurrent.futures
import pathlib
import subprocess
import sys

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
headers = [p for folder in ("spec", "reference", "compiled", "conformance", "training")
           for p in sorted((root / folder).rglob("*.hpp")) if "adapters" not in p.parts]


def first_of_its_source(path):
    source = path.with_suffix(".cpp")
    if not source.exists():
        return False
    first = next((line for line in source.read_text().splitlines() if line.startswith("#include")), "")
    return first == f'#include "{path.relative_to(root)}"'


alone = [p for p in headers if not first_of_its_source(p)]


def fault(path):
    name = path.relative_to(root)
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", root, "-isystem", "/usr/lib/llvm-19/include", "-x", "c++", "-"]
    run = subprocess.run(command, input=f'#include "{name}"\n', capture_output=True, text=True)
    return None if run.returncode == 0 else f"{name}: {run.stderr.splitlines()[0]}"


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    faults = [f for f in pool.map(fault, alone) if f]
print("\n".join(faults))
print(f"{len(headers)} headers, {len(alone)} compiled here, {len(faults)} faults")
sys.exit(1 if faults or len(headers) < 20 else 0)
