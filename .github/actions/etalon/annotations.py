"""Failures of a run as annotations of GitHub Actions, one per operation and mode while there are few enough: it shows ten a step.
Usage: annotations.py RUN.jsonl"""
import json
import pathlib
import sys

most = 10


def escaped(text):
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_property(text):
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


def line(title, message):
    return f"::error title={as_property(title)}::{escaped(message)}"


def failures(records):
    """The first failure of each operation, check and type, without those that are waived."""
    first = {}
    for r in records:
        if r.get("kind") == "result" and r["verdict"] in ("fail", "crashed", "timeout") and not r.get("waived"):
            first.setdefault((r["operation"], r["check"], r["dtype"]), r)
    return list(first.values())


def message(record):
    what = record.get("why") or record["verdict"]
    at = record.get("offender")
    if at and not record.get("why"):
        what = f"{at.get('tensor')}[{at.get('element')}]: got {at.get('got')}, expected {at.get('lower')} to {at.get('upper')}"
    return f"{what}\nagain: etalon conform --backend … --replay '{record['id']}'"


path = pathlib.Path(sys.argv[1])
records = [json.loads(text) for text in path.read_text().splitlines()] if path.is_file() else []
found = failures(records)
shown = found if len(found) <= most else found[:most - 1]
for record in shown:
    print(line(f"{record['operation']}, {record['check']}, {record['dtype']}", message(record)))
if len(found) > len(shown):
    print(line("more", f"{len(found) - len(shown)} more operations and types fail; the report lists them"))
if not found:
    print(line("does not conform", "No case failed; the log says what could not be done, what was offered and never compared, "
                                   "or which waiver is out of date"))
