"""Stage `functions`: each function of the contract `cuda` in f32, as the emitted text calls it, beside the same text in f64.

On a card over all 2^32 operands (of functions of two over 2^32 drawn pairs); on the host, by its C library, over some."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import tempfile

from record import FAILED, LATE, PASSED, SKIPPED, result
from texts import launch_of

# How the notation writes what is not NAME(x).
SPELLINGS = {"pow": "x[i] ^ z[i]", "atan2": "atan2(x[i], z[i])"}
# Kernels in which nobody waits, thread by thread.
HOST = """#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
struct alignas(16) float4 { float x, y, z, w; };
struct Place { unsigned x; };
static Place blockIdx{0}, threadIdx{0}, blockDim{1}, gridDim{1};
template <class Do> void over(unsigned blocks, unsigned threads, Do one) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) one();
}
"""


def emitted(check, deadline, folder, name, dtype, elements):
    """The CUDA C++ of y = name(x) over so many elements. Raises RuntimeError with the command's line."""
    spelling = SPELLINGS.get(name, f"{name}(x[i])")
    operands = ["x", "z"] if "z[i]" in spelling else ["x"]
    definition, program = folder / f"{name}.definitions", folder / f"{name}.{dtype}.txt"
    definition.write_text(f"probe({', '.join(f'{o}[n]' for o in operands)}) -> y[n]\n  y[i] = {spelling}\n")
    program.write_text("".join(f"input {o} : {dtype}[{elements}]\n" for o in operands) + f"y = probe({', '.join(operands)})\noutput y\n")
    done = deadline.run([check.etalon, "compile", program, "--definitions", definition, "--emit", "cuda"])
    if not done.ok:
        raise RuntimeError(f"compile: {done.why}")
    return done.out, len(operands)


def section(space, text, real, on_card):
    """The text in a namespace of its own, and a function that runs its kernel."""
    kernel, blocks, threads, shared, arguments = launch_of(text)
    given = f"({', '.join(arguments)})"
    call = f"{space}::{kernel}<<<{blocks}, {threads}, {shared}>>>{given}" if on_card else f"over({blocks}, {threads}, [&] {{ {space}::{kernel}{given}; }})"
    body = text.replace('extern "C" __global__', "static __global__")
    return (f"namespace {space} {{\n{body}\n}}\nstatic void {space}_text(const {real} *x, const {real} *z, {real} *y) {{\n  (void)z;\n"
            f"  {call};\n}}\n")


def source_of(check, deadline, folder, name, on_card):
    elements, chunks, step = (1 << 24, 1 << 8, 1) if on_card else (1 << 14, 1 << 4, (1 << 14) + 1)
    single, operands = emitted(check, deadline, folder, name, "f32", elements)
    double, _ = emitted(check, deadline, folder, name, "f64", elements)
    numbers = f"#define ELEMENTS {elements}ull\n#define CHUNKS {chunks}ull\n#define STEP {step}ull\n#define OPERANDS {operands}\n"
    return ("#include <math.h>\n#include <stdint.h>\n#include <string.h>\n" + ("" if on_card else HOST) + numbers + section("single", single, "float", on_card) +
            section("exact", double, "double", on_card) + (pathlib.Path(__file__).parent / "functions.cu").read_text())


def compiler(check):
    """The words that make a program of a source, by the device."""
    if check.backend == "cuda":
        return ["nvcc", "-std=c++17", "-O2", "--fmad=false", "-arch=native", "-w", "-x", "cu"] if shutil.which("nvcc") else None
    return ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-w", "-x", "c++"] if shutil.which("g++") else None


def measured(check, deadline, folder, name, promised):
    """One row: what was found of one function."""
    row = {"function": name, "promised": promised}
    try:
        source = folder / f"{name}.cu"
        source.write_text(source_of(check, deadline, folder, name, check.backend == "cuda"))
    except (RuntimeError, ValueError) as problem:
        return {**row, "status": FAILED, "why": str(problem)}
    program = folder / f"{name}.program"
    made = deadline.run([*compiler(check), source, "-o", program])
    done = deadline.run([program]) if made.ok else made
    if not done.ok:
        return {**row, "status": LATE if done.status is None else FAILED, "why": done.why}
    found = json.loads(done.out)
    kept = found["worst"] <= promised and found["nan_mismatches"] == 0
    why = "" if kept else f"{found['worst']:.4g} ulp at {found['operand']}, promised {promised}" if found["worst"] > promised else f"{found['nan_mismatches']} NaN on one side"
    return {**row, "status": PASSED if kept else FAILED, "why": why, "seconds": round(done.seconds, 2), **found}


def stage(check, deadline):
    if compiler(check) is None:
        return result(SKIPPED, "no compiler for the texts: nvcc on a card, g++ without")
    shown = deadline.run([check.etalon, "contract", "show", "cuda"], 60)
    if not shown.ok:
        return result(FAILED, f"contract show cuda: {shown.why}")
    promises = json.loads(shown.out)["functions"]["f32"]
    names = [n for n in promises if not check.functions or n in check.functions]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(lambda n: measured(check, deadline, pathlib.Path(folder), n, promises[n]["k0"]), names))
    wrong = [r for r in rows if r["status"] != PASSED]
    line = f"{len(rows) - len(wrong)} of {len(rows)} functions within what the contract promises"
    if wrong:
        line += f"; {wrong[0]['function']}: {wrong[0]['why']}"
    return result(FAILED if any(r["status"] == FAILED for r in wrong) else LATE if wrong else PASSED, line, rows=rows)
