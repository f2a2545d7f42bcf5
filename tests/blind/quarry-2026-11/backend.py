"""A graph optimizer as a backend of Protocol 1: one JSON object per line in, one out."""
import json
import os
import sys

try:
    import numpy  # noqa: F401
except ModuleNotFoundError:  # a Python without NumPy stands first on the path: the system's has it
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

from quarry.session import answer


def main():
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except ValueError as failure:
            found = {"id": None, "error": str(failure)}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
