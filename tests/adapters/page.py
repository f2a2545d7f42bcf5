"""The tutorial's code blocks, in order, are the NumPy adapter. Usage: page.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/writing-an-adapter.md").read_text()
adapter = (root / "conformance/adapters/numpy/adapter.py").read_text()
blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
same, lines = "".join(blocks) == adapter, adapter.count("\n")
print(f"{len(blocks)} blocks, {'the' if same else 'not the'} adapter of {lines} lines")
sys.exit(0 if same and blocks and lines < 100 else 1)
