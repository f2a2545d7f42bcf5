"""Every header compiles alone."""
import concurrent.futures
import pathlib
import subprocess
import sys

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
headers = [p for folder in ("spec", "reference", "compiled", "conformance", "training")
           for p in sorted((root / folder).rglob("*.hpp")) if "adapters" not in p.parts]


def fault(path):
    name = path.relative_to(root)
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", root, "-isystem", "/usr/lib/llvm-19/include", "-x", "c++", "-"]
    run = subprocess.run(command, input=f'#include "{name}"\n', capture_output=True, text=True)
    return None if run.returncode == 0 else f"{name}: {run.stderr.splitlines()[0]}"


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    faults = [f for f in pool.map(fault, headers) if f]
print("\n".join(faults))
print(f"{len(headers)} headers, {len(faults)} faults")
sys.exit(1 if faults or len(headers) < 20 else 0)
