"""Writes the figures of docs/adequacy.md: whole runs of `etalon-adequacy` over mutants of equations and over defects of
implementations, and the floors of the samples that ctest asks (tests/adequacy/*.floors).

Usage: adequacy.py ROOT ETALON_ADEQUACY [--tier TIER] [--jobs N] [--mutants FILE --implementations FILE]
With files, as `--json` writes them, the whole runs are not repeated, and the floors stay.
"""
import argparse
import collections
import json
import pathlib
import subprocess

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("command")
parser.add_argument("--tier", default="quick")
parser.add_argument("--jobs", default="2")
parser.add_argument("--mutants", type=pathlib.Path)
parser.add_argument("--implementations", type=pathlib.Path)
wanted = parser.parse_args()
tests = wanted.root / "tests/adequacy"
page = wanted.root / "docs/adequacy.md"

# Whose alive mutants are listed by what is alike about them, and how many rows a list has.
LISTED = 12


def run(*words):
    subprocess.run([wanted.command, "--tier", wanted.tier, "--jobs", wanted.jobs, *words], check=True, stdout=subprocess.DEVNULL)


def whole(given, *words):
    if given:
        return json.loads(given.read_text())
    file = wanted.root / "adequacy.json"
    run(*words, "--alive", "/dev/null", "--json", str(file))
    found = json.loads(file.read_text())
    file.unlink()
    return found


def percent(killed, alive):
    return f"{100 * killed / (killed + alive):.2f}" if killed + alive else "-"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def mutants_table(mutants):
    rows = []
    for kind in [*dict.fromkeys(m["kind"] for m in mutants), "all"]:
        fates = collections.Counter(m["fate"] for m in mutants if kind in (m["kind"], "all"))
        rows.append([kind, sum(fates.values()), fates["equivalent"], fates["identical"], fates["killed"], fates["alive"],
                     percent(fates["killed"], fates["alive"])])
    return table(["kind", "made", "equivalent", "identical", "killed", "alive", "%"], rows)


def why_equivalent(mutants):
    causes = collections.Counter(m["by"] for m in mutants if m["fate"] in ("equivalent", "identical"))
    return table(["proved to be equivalent, or identical", "mutants"], causes.most_common())


def cause(m):
    if m["asked"] <= 4:
        return "its equation was met in four cases or fewer"
    if m["asked"] > m["unchanged"]:
        return "what differed was admitted"
    return "numbers on the way differed, and no answer" if m["unseen"] else "no number was another in any case"


def alive(mutants):
    left = [m for m in mutants if m["fate"] == "alive"]
    kinds = list(dict.fromkeys(m["kind"] for m in mutants))
    causes = list(dict.fromkeys(cause(m) for m in left))
    rows = [[c, *(sum(m["kind"] == k and cause(m) == c for m in left) for k in kinds)] for c in causes]
    operations = collections.Counter(m["operation"] for m in left).most_common(LISTED)
    text = table(["alive, since", *kinds], rows)
    return text + "\nMost are of " + ", ".join(f"`{name}` ({count})" for name, count in operations) + ".\n"


def implementations_table(defects):
    rows = []
    for family in [*dict.fromkeys(d["family"] for d in defects), "all"]:
        of = [d for d in defects if family in (d["family"], "all")]
        asked = [d for d in of if d["touched"]]
        killed = sum(bool(d["by"]) for d in asked)
        rows.append([family, len(asked), killed, len(asked) - killed, percent(killed, len(asked) - killed), len(of) - len(asked)])
    return table(["defects", "asked", "killed", "alive", "%", "untouched"], rows)


def alive_implementations(defects):
    left = collections.defaultdict(list)
    for d in defects:
        if d["touched"] and not d["by"]:
            left[d["defect"]].append(d["operation"])
    rows = [[what, len(names), ", ".join(f"`{n}`" for n in names[:LISTED]) + (", …" if len(names) > LISTED else "")]
            for what, names in sorted(left.items(), key=lambda item: -len(item[1]))]
    lines = ["| alive | operations | such as |", "|---|---:|---|"]
    return "\n".join(lines + [f"| {what} | {count} | {names} |" for what, count, names in rows]) + "\n"


def put(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    head, rest = text.split(begin)
    return head + begin + content + end + rest.split(end)[1]


mutants = whole(wanted.mutants)
defects = whole(wanted.implementations, "--implementations")
text = page.read_text()
text = put(text, "mutants", mutants_table(mutants) + "\n" + why_equivalent(mutants) + "\n" + alive(mutants))
text = put(text, "implementations", implementations_table(defects) + "\n" + alive_implementations(defects))
page.write_text(text)
if not wanted.mutants:
    run("--sample", "1/20", "--record", str(tests / "mutants.floors"))
    run("--implementations", "--sample", "1/20", "--record", str(tests / "implementations.floors"))
