"""gdb stops in generated code and shows the loop that it was made of. Skipped where gdb is missing or may not trace."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

command = sys.argv[1]
SKIPPED = 77
gdb = shutil.which("gdb")
if gdb is None:
    print("skipped: gdb is not installed (Debian: apt-get install gdb)")
    sys.exit(SKIPPED)
quiet = ["-nx", "-batch", "-iex", "set debuginfod enabled off"]
tried = subprocess.run([gdb, *quiet, "-ex", "run", "--args", "/bin/true"], capture_output=True, text=True, timeout=120)
if "exited normally" not in tried.stdout:
    print("skipped: gdb may not trace processes here:", (tried.stderr.splitlines() or ["?"])[-1])
    sys.exit(SKIPPED)

check = Checks()

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program = folder / "step.txt"
    program.write_text("input x : f32[40, 30]\nparameter w : f32[50, 30]\nz = linear(x, w, _)\nh = relu(z)\n"
                       "s = softmax(h) {axis = 1}\noutput s\n")
    run = [command, "run", str(program), "--backend", "cpu", "--set", "x=1", "--set", "w=0.5"]
    debug = folder / "debug"
    environment = {**os.environ, "ETALON_DEBUG_DIR": str(debug), "ASAN_OPTIONS": "detect_leaks=0"}
    plain = subprocess.run(run, capture_output=True, text=True, timeout=120)
    subprocess.run(run, capture_output=True, text=True, timeout=120, env=environment)
    listing = (debug / "loops.txt").read_text().splitlines()
    # The kernel of the softmax and, in it, a line in the middle: the store of the exponentials.
    heads = [i for i, line in enumerate(listing) if line.startswith("kernel ")]
    number = next(n for n, i in enumerate(heads) if listing[i].startswith("kernel s("))
    store = next(i for i in range(heads[number], len(listing)) if "exp(" in listing[i]) + 1
    script = ["-ex", "set breakpoint pending on", "-ex", f"break kernel_{number}", "-ex", "run", "-ex", "backtrace 2", "-ex", "info line",
              "-ex", "info source", "-ex", f"tbreak {debug}/loops.txt:{store}", "-ex", "continue", "-ex", "frame", "-ex", "info locals",
              "-ex", "delete", "-ex", "continue"]
    ran = subprocess.run([gdb, *quiet, *script, "--args", *run], capture_output=True, text=True, timeout=300, env=environment)
    text = ran.stdout
    shown = f"gdb printed\n{text[-3000:]}\n{ran.stderr[-1000:]}"
    first = re.search(rf"#0  (?:0x\w+ in )?kernel_{number} \(\) at (?:.*/)?loops.txt:(\d+)", text)
    check(first is not None, f"no frame of kernel_{number} in loops.txt")
    if first:
        check(heads[number] < int(first.group(1)) <= len(listing), f"line {first.group(1)} is not one of kernel {number}")
    check(re.search(r"#1 .*(etalon::compiled::|compiled/runtime/\w+\.cpp)", text) is not None, "the caller of the kernel is not found")
    check(re.search(r'Line \d+ of "(?:.*/)?loops.txt"', text) is not None, "info line does not name loops.txt")
    check(f"Located in {debug}/loops.txt" in text, "info source does not name the file")
    check(re.search(rf"^{store}\t\s+.*exp\(", text, re.M) is not None, f"line {store} is not shown where it was stopped")
    check(re.search(r"^s0 = \d+$", text, re.M) is not None, "the loop's variable has no value")
    check(plain.stdout.strip() != "" and plain.stdout.strip()[:200] in text, "the run under gdb printed other numbers")
    check("exited normally" in text, "the program did not end by itself")
if check.faults:
    print(shown)
sys.exit(check.status(7))
