"""pytest, or a skip that names what is missing. Usage: collected.py WORD …"""
import sys

missing = []
for package in ("numpy", "pytest", "hypothesis"):
    try:
        __import__(package)
    except ImportError:
        missing.append(f"python3-{package}")
if missing:
    print(f"skipped: {', '.join(missing)} is not installed")
    sys.exit(77)
import pytest

status = pytest.main(["-q", "-p", "no:cacheprovider", "-rs", *sys.argv[1:]])
# What is skipped as a whole collects nothing.
sys.exit(77 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status)
