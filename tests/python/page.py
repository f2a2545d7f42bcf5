"""Runs the blocks of a page, one after the other, and compares what they print. Usage: page.py PAGE [README]

What README.md says of a failure is part of its message."""
import contextlib
import io
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text()
blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", page, re.M | re.S)
names, faults = {"__name__": "page"}, 0
for number, (code, expected) in enumerate(blocks, 1):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"block {number}", "exec"), names)
    if printed.getvalue() != expected:
        faults += 1
        print(f"block {number}:\n  the page says {expected!r}\n  it prints      {printed.getvalue()!r}")
for path in sys.argv[2:]:
    code, told = re.search(r"^```python\n(.*?)^```\n\nfails: ([^\n]*)\n", pathlib.Path(path).read_text(), re.M | re.S).groups()
    words = re.findall(r"`([^`]+)`", told)
    try:
        exec(compile(code, path, "exec"), {"__name__": "page"})
        message = ""
    except AssertionError as found:
        message = str(found)
    for word in words:
        if word not in message:
            faults += 1
            print(f"{path}: {word!r} is not in {message!r}")
    faults += not words
print(f"{len(blocks)} blocks, {faults} faults")
sys.exit(1 if faults or not blocks else 0)
