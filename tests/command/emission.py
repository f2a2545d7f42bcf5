"""What `etalon compile --emit` writes: C that compilers take without a word, CUDA C++ that NVRTC does, and files in order."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

command, c_compiler = sys.argv[1], sys.argv[2]
check = Checks()


def etalon(*words):
    return subprocess.run([command, *map(str, words)], capture_output=True, text=True, timeout=300)


folder = pathlib.Path(tempfile.mkdtemp())
program = folder / "step.txt"
program.write_text('input x : f32[2]\nparameter w : f32[]\nh = mul(x, w) @ "net.py":3 section "forward"\ns = sum(h)\n'
                   "g = vjp(s; w)\noutput s, g\nupdate w := g\n")

# One form to standard output or a file, and nothing else.
expected = {"program": "update w := g", "equations": "h[", "plan": "kernel", "loops": "over ", "llvm": "define ", "asm": "kernel_0",
            "c": "void step(const struct step_arguments *arguments) {", "cuda": "__global__ void kernel_0_"}
for form, part in expected.items():
    out = etalon("compile", program, "--emit", form)
    check(out.returncode == 0 and part in out.stdout, f"--emit {form}: exit {out.returncode}, {part!r} is missing in {out.stdout[:300]!r}")
    target = folder / f"{form}.out"
    to_file = etalon("compile", program, "--emit", form, "-o", target)
    check(to_file.stdout == "" and target.read_text().rstrip("\n") == out.stdout.rstrip("\n"), f"--emit {form} -o: another text")
unknown = etalon("compile", program, "--emit", "fortran")
check((unknown.returncode, unknown.stdout) == (2, ""), "--emit fortran is not refused")
check(all(form in unknown.stderr for form in [*expected, "ptx", "cubin", "resources"]) and unknown.stderr.count("\n") == 1, f"--emit fortran: {unknown.stderr!r}")
for words in (["-o", "x"], ["--emit", "c", "--dump-after", "plan"], ["--emit", "c", "--arch", "compute_90"], ["--emit", "c", "-o", "/nonexistent/x"]):
    refused = etalon("compile", program, *words)
    check(refused.returncode == 2 and refused.stderr.count("\n") == 1, f"{words}: {refused.returncode}, {refused.stderr!r}")

ptx = etalon("compile", program, "--emit", "ptx", "--arch", "compute_90")
has_nvrtc = ptx.returncode == 0
if has_nvrtc:
    check(".target sm_90" in ptx.stdout and ".entry kernel_0_" in ptx.stdout, "--emit ptx: no entry for sm_90")
else:
    check("not in this build" in ptx.stderr, f"--emit ptx: {ptx.stderr!r}")
    print("no NVRTC in this build: CUDA C++ is written, not compiled")

# Machine code is a file of bytes, and one line of the table of resources is a kernel's.
cubin, table = folder / "step.cubin", etalon("compile", program, "--emit", "resources", "--arch", "sm_120")
code = etalon("compile", program, "--emit", "cubin", "-o", cubin)
if has_nvrtc:
    check(code.returncode == 0 and cubin.read_bytes()[:4] == b"\x7fELF", f"--emit cubin: {code.stderr!r}")
    piped = subprocess.run([command, "compile", program, "--emit", "cubin"], capture_output=True)
    check(piped.stdout == cubin.read_bytes(), "--emit cubin: other bytes on standard output than in a file")
    rows = [line.split() for line in table.stdout.splitlines()]
    check(len(rows) > 3 and (rows[0][0], rows[1][0], rows[-1][0]) == ("sm_120:", "kernel", "all"), f"--emit resources: {table.stdout!r} {table.stderr!r}")
    check(all(row[0].startswith("kernel_") and len(row) == len(rows[1]) and int(row[4]) > 0 for row in rows[2:-1]), f"--emit resources: {table.stdout!r}")
    for words in (["cubin", "--arch", "compute_90"], ["cubin", "--arch", "sm_1"], ["resources", "--arch", "sm_1"]):
        wrong = etalon("compile", program, "--emit", *words)
        check((wrong.returncode, wrong.stdout) == (2, "") and wrong.stderr.count("\n") == 1, f"--emit {words}: {wrong.returncode}, {wrong.stderr!r}")
else:
    for out in (code, table):
        check(out.returncode == 2 and "not in this build" in out.stderr, f"--emit cubin or resources: {out.stderr!r}")

# Every stage in a folder.
stages = folder / "stages"
check(etalon("compile", program, "--debug-dir", stages).returncode == 0, "--debug-dir failed")
names = sorted(p.name for p in stages.iterdir())
check([n.split("-")[0] for n in names] == [f"{i:02}" for i in range(len(names))], f"--debug-dir: numbers {names}")
check([n.split("-", 1)[1] for n in names][:2] == ["program.txt", "equations.txt"], f"--debug-dir: {names[:2]}")
last = ["after-simplify_code.ll", "after-generate.s", "after-link.s", "c.c", "cuda.cu"] + (["ptx.ptx"] if has_nvrtc else [])
check([n.split("-", 1)[1] for n in names][-len(last):] == last, f"--debug-dir: ends with {names[-len(last):]}")
check(all((stages / n).stat().st_size > 0 for n in names), "--debug-dir: an empty file")

# The programs of the benches: training steps, products, convolutions, attention.
programs = folder / "programs"
programs.mkdir()
etalon("bench", "--programs", programs)
seen = set()
for path in sorted(programs.glob("*.txt")):
    text = path.read_text()
    if text in seen:
        continue
    seen.add(text)
    source = programs / (path.stem + ".c")
    emitted = etalon("compile", path, "--emit", "c", "-o", source)
    check(emitted.returncode == 0, f"{path.name}: {emitted.stderr!r}")
    built = subprocess.run([c_compiler, "-std=c99", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Wno-unused-function", "-ffp-contract=off", "-c",
                            source, "-o", programs / "out.o"], capture_output=True, text=True)
    check(built.returncode == 0 and built.stderr == "", f"{path.name}: {c_compiler} says {built.stderr[:500]!r}")
    if has_nvrtc:
        made = etalon("compile", path, "--emit", "ptx")
        check(made.returncode == 0 and ".entry " in made.stdout, f"{path.name}: {made.stderr!r}")
check(len(seen) >= 25, f"{len(seen)} programs of the benches, expected 25")
shutil.rmtree(folder)
sys.exit(check.status(60, f"{len(seen)} programs of the benches"))
