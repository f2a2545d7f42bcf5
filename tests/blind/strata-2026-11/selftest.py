#!/usr/bin/python3
"""Asks every witness without and with its defect: the first answer must be the expected one, the second must not."""
import json
import os
import sys

from ask import answers, array, differences

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = [word.replace("{set}", HERE) for word in open(os.path.join(HERE, "command")).read().split()]


def main():
    defects = json.load(open(os.path.join(HERE, "defects.json")))
    expected = json.load(open(os.path.join(HERE, "expected.json")))
    only = sys.argv[1:]
    defects = [x for x in defects if not only or x["name"] in only]
    sound = answers(COMMAND, [x["witness"] for x in defects])
    wrong = 0
    for x, answer in zip(defects, sound):
        right = expected[x["name"]]
        problems = []
        off = differences(answer, right) if "outputs" in answer else [("answer", 0, json.dumps(answer)[:200])]
        if off:
            problems.append(f"sound answer differs {off}")
        # Alone in a process, and again behind itself: a defect may need memory that was used before, never other requests.
        bad = answers(COMMAND, [x["witness"]], blind=x["name"])[0]
        wide = lambda a, b: [y for y in differences(a, b) if y[2] > 50]
        if "outputs" not in bad:
            problems.append("no outputs with the defect: " + json.dumps(bad)[:200])
        elif not wide(bad, answer):
            problems.append("the defect does not show")
        if problems:
            wrong += 1
            print(x["name"], *problems, sep=": ")
    print(f"{len(defects)} defects, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
