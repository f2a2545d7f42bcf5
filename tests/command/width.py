"""Progress, tables and plots on terminals of 40 and 80 columns: what is drawn over again and what has columns keeps to the
width, and nothing is lost. Usage: width.py ETALON compiled|plain"""
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

from checks import Checks

etalon, compiled = sys.argv[1], sys.argv[2] == "compiled"
folder = pathlib.Path(tempfile.mkdtemp())
check = Checks()


def on_terminal(columns, *words):
    """What the command writes to a terminal of this width, without the words that move its cursor: lines, and redrawn ones."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([etalon, *words], stdin=subprocess.DEVNULL, stdout=its, stderr=its)
    os.close(its)
    written = b""
    while True:
        try:
            some = os.read(ours, 1 << 16)
        except OSError:  # Linux says so at the end
            break
        if not some:
            break
        written += some
    os.close(ours)
    process.wait(timeout=300)
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", written.decode()).replace("\r\n", "\n")
    return process.returncode, [line for line in re.split(r"[\r\n]", text) if line]


def cells(lines):
    """The numbers of a table in their order, by operation."""
    found = {}
    for line in lines:
        name, _, rest = line.partition(" ")
        found.setdefault(name, []).extend(re.split(r" {2,}", rest.strip()))
    return found


run = folder / "run.jsonl"
asked = ["conform", "--backend", "reference", "--ops", "sgd,tanh,log_softmax", "--dtypes", "f32", "--json", str(run)]
code, lines = on_terminal(40, *asked)
progress = [line for line in lines if line.startswith("[")]
check(code == 0 and progress and max(map(len, progress)) <= 40, f"progress: {code} {[p for p in progress if len(p) > 40][:3]}")
operations = {"operation", *(r["operation"] for r in map(json.loads, run.read_text().splitlines()) if r["kind"] == "result")}
check(len(operations) == 4, f"operations: {operations}")
rendered = subprocess.run([etalon, "report", "render", str(run)], capture_output=True, text=True)
flat = [line for line in rendered.stdout.splitlines() if line.split(" ")[0] in operations]
check(len(flat) == 4 and max(map(len, flat)) > 80, f"in a file the table is one: {flat}")
for columns in (40, 80):
    code, lines = on_terminal(columns, "report", "render", str(run))
    table = [line for line in lines if line.split(" ")[0] in operations]
    check(code == 0 and max(map(len, table)) <= columns, f"the table on {columns} columns: {code} {table}")
    check(len(table) > 4 and len(table) % 4 == 0, f"the table on {columns} columns has {len(table)} lines")
    check(cells(table) == cells(flat), f"the table on {columns} columns says {cells(table)}, it is {cells(flat)}")

if compiled:
    for columns in (40, 80):
        code, lines = on_terminal(columns, "train", "moons", "--epochs", "8")
        drawn = [line for line in lines if line.startswith("[") or "|" in line or "+--" in line or re.fullmatch(r"  [.*#%]+", line)]
        check(code == 0 and len(drawn) > 60, f"train on {columns} columns: {code}, {len(drawn)} lines of bars and plots")
        check(max(map(len, drawn)) <= columns, f"train on {columns} columns: {max(drawn, key=len)!r}")
        told = [line for line in lines if line.startswith("epoch ")]
        check(told and max(map(len, told)) <= columns, f"train on {columns} columns: {told[:2]}")

sys.exit(check.status(8))
