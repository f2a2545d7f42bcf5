"""sluice, an eager NumPy framework with a dispatcher, behind Protocol 1: one JSON object per line in and out."""
import json
import sys

import numpy as np

from sluice.protocol import answer

np.seterr(all="ignore")


def main():
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except (ValueError, AttributeError) as failure:
            found = {"id": None, "error": f"cannot read the line: {failure}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    sys.exit(main())
