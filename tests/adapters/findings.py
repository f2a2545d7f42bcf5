"""Runs the examples of docs/findings.md and compares what they print. Usage: findings.py ROOT"""
import contextlib
import io
import pathlib
import re
import sys

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; conformance/adapters/pytorch/install says how to get it")
    sys.exit(77)
if not torch.__version__.startswith("1.13."):
    print(f"skipped: the findings are about PyTorch 1.13, this is {torch.__version__}")
    sys.exit(77)

page = (pathlib.Path(sys.argv[1]) / "docs/findings.md").read_text()
found = re.findall(r"^### (.+?)\n.*?^```python\n(.*?)^```\n^```text\n(.*?)^```\n", page, re.M | re.S)
faults = 0
for title, script, expected in found:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, title, "exec"), {})
    if printed.getvalue() != expected:
        faults += 1
        print(f"{title}:\n  the page says {expected!r}\n  it prints {printed.getvalue()!r}")
headings = page.count("\n### ")
print(f"{len(found)} of {headings} findings run, {faults} faults")
sys.exit(0 if found and len(found) == headings and not faults else 1)
