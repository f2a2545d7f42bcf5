"""Holds each variant to the definitions with the suite's own cases: what is sound is acquitted, what loses accuracy is shown to.

python3 run.py ETALON [--only NAME,…] [--share I/N] [--table]"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from table import VARIANTS

HERE = pathlib.Path(__file__).resolve().parent
MODES = {"value": "forward", "jvp": "jvp", "vjp": "vjp"}


def parsed():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("etalon")
    p.add_argument("--only", default="", help="names of variants, separated by commas")
    p.add_argument("--share", default="0/1", help="every N-th variant, from the I-th on")
    p.add_argument("--seed", default="1")
    p.add_argument("--table", action="store_true", help="print the table for the README")
    return p.parse_args()


def rounds(variants):
    """Lists in which each operation stands once: one process answers it in one way."""
    lists = []
    for v in variants:
        free = next((l for l in lists if all(other.operation != v.operation for other in l)), None)
        lists.append([v]) if free is None else free.append(v)
    return lists


def records(options, variants):
    command = f"{sys.executable} {HERE / 'backend.py'} {','.join(v.name for v in variants)}"
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        done = subprocess.run([options.etalon, "conform", "--backend", f"exec:{command}", "--ops", ",".join(v.operation for v in variants),
                               "--tier", "quick", "--seed", options.seed, "--dtypes", "f32,f64", "--checks", "value,jvp,vjp", "--jobs", "1",
                               "--shrink-seconds", "0", "--json", lines.name], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"etalon conform ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        found = [json.loads(line) for line in pathlib.Path(lines.name).read_text().splitlines()]
    return [r for r in found if "id" in r and "verdict" in r]


def units(offender):
    """How far outside the interval the answer is, in units in the last place of the nearer end."""
    if not offender:
        return math.nan
    got, lower, upper = (float(offender[key]) if offender.get(key) is not None else math.nan for key in ("got", "lower", "upper"))
    if not all(map(math.isfinite, (got, lower, upper))):
        return math.inf
    end = lower if got < lower else upper
    T = np.float32 if offender["dtype"] == "f32" else np.float64
    return abs(got - end) / float(np.spacing(np.abs(T(end)))) if math.isfinite(float(T(end))) else math.inf


def place(record):
    """operation, element type and mode of a record's id: softmax.vjp.f32.0012@1-9f3c2a11"""
    operation, check, dtype, _ = re.match(r"(\w+)\.(\w+)\.(\w+)\.(\d+)@", record["id"]).groups()
    return operation, dtype, MODES[check]


class Finding:
    """What became of one variant in one type and mode."""

    def __init__(self, expected):
        self.expected, self.compared, self.failures, self.broken = expected, 0, [], []

    def add(self, record):
        if record["verdict"] == "fail":
            self.compared += 1
            (self.failures if record.get("offender") else self.broken).append(record)
        elif record["verdict"] in ("pass", "undecided"):
            self.compared += 1
        elif record["verdict"] != "unsupported":
            self.broken.append(record)

    def worst(self):
        return max(self.failures, key=lambda r: units(r["offender"]))

    def fault(self):
        if self.broken:
            return f"{self.broken[0]['id']}: {self.broken[0].get('why')}"
        if self.failures and not self.expected:
            w = self.worst()
            return f"convicted {len(self.failures)} of {self.compared}, by {units(w['offender']):.3g} units: {w['id']} {w.get('why', '')[:160]}"
        return None

    def text(self):
        if not self.failures:
            return f"acquitted, {self.compared} cases"
        w = self.worst()
        return f"loses {units(w['offender']):.2g} units in {len(self.failures)} of {self.compared} cases ({self.expected}), {w['id']}"


def unshown(variant, findings):
    """What a whole variant leaves open: a mode that was never compared, a loss that no case shows."""
    own = {(dtype, mode): f for (name, dtype, mode), f in findings.items() if name == variant.name}
    faults = [f"{mode}: nothing was compared" for mode in variant.modes
              if not any(f.compared for (_, m), f in own.items() if m == mode)]
    if variant.loses and not variant.rare and not any(f.failures for f in own.values() if f.expected):
        faults.append(f"acquitted, though {next(iter(variant.loses.values()))}")
    return faults


def main():
    options = parsed()
    share, shares = map(int, options.share.split("/"))
    wanted = options.only.split(",") if options.only else sorted(VARIANTS)[share::shares]
    findings = {}
    for variants in rounds([VARIANTS[name] for name in wanted]):
        of = {v.operation: v for v in variants}
        for v in variants:
            for dtype in ("f32", "f64"):
                for mode in v.modes:
                    findings[v.name, dtype, mode] = Finding(v.loses.get(f"{dtype} {mode}"))
        for record in records(options, variants):
            operation, dtype, mode = place(record)
            finding = findings.get((of[operation].name, dtype, mode))
            if finding:
                finding.add(record)
    faults = 0
    for (name, dtype, mode), finding in sorted(findings.items()):
        fault = finding.fault()
        faults += fault is not None
        if fault:
            print(f"{name} {dtype} {mode}: {fault}")
        elif options.table:
            print(f"| `{name}` | {dtype} {mode} | {finding.text()} |")
    for name in wanted:
        for fault in unshown(VARIANTS[name], findings):
            print(f"{name}: {fault}")
            faults += 1
    compared = sum(f.compared for f in findings.values())
    print(f"{len(wanted)} variants, {len(findings)} questions, {compared} cases compared, {faults} faults")
    sys.exit(1 if faults or compared == 0 else 0)


if __name__ == "__main__":
    main()
