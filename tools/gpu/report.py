"""The page of runs: check.json as Markdown."""
import re

from ceilings import prediction


def cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(cell(v) for v in row) + " |" for row in rows] + [""]


def first_line(contents):
    cards = {(c["stages"].get("facts", {}).get("card") or {}).get("name") for c in contents if c["device"] == "cuda"} - {None}
    if not cards:
        return "Not yet run on a card."
    return f"Run on {', '.join(sorted(cards))}, {', '.join(c['begun'] for c in contents)}."


def facts(found):
    rows = [*(found.get("card") or {}).items(), *found["tools"].items(), *found["packages"].items()]
    return table(["what", "found"], [(k, v or "none") for k, v in rows])


def digests(found):
    return table(["workload", "text calls", "status", "bits"],
                 [(r["workload"], ", ".join(r["library_calls"]) or "nothing", r["status"], r.get("why") or ("as expected" if r["expected"] else "the same twice"))
                  for r in found["rows"]])


def conform(found):
    return table(["type", "operations", "comparisons", "verdicts", "seconds"],
                 [(r["dtype"], r["operations"], r["comparisons"], ", ".join(f"{n} {v}" for v, n in sorted(r["verdicts"].items())), r["seconds"]) for r in found["rows"]]) + [
                     f"- `{f['id']}`: {cell(f['why'])}" for r in found["rows"] for f in r["failed"]]


def functions(found):
    return table(["function", "operands", "worst, ulp", "at", "promised", "NaN on one side", "infinite on one side", "status"],
                 [(r["function"], r.get("operands", ""), f"{r['worst']:.4g}" if "worst" in r else "", r.get("operand", r.get("why")), r["promised"], r.get("nan_mismatches", ""),
                   r.get("infinity_mismatches", ""), r["status"]) for r in found["rows"]])


def sanitizer(found):
    return table(["tool", "workload", "status", ""], [(r["tool"], r["workload"], r["status"], r.get("why", "")) for r in found["rows"]])


def digits(value, places=0):
    return "" if value is None else f"{value:.{places}f}"


def counters(found):
    rows = [(r["workload"], k) for r in found["rows"] for k in r["kernels"]]
    return table(["workload", "kernel", "grid", "block", "time", "MB", "memory, %", "arithmetic, %", "warps, %", "registers", "sectors per load, store", "bank conflicts"],
                 [(name, k["kernel"], k["grid"], k["block"], time_text(k["nanoseconds"] / 1e9) if k["nanoseconds"] else "", digits(k["bytes"] / 1e6, 1) if k["bytes"] else "",
                   digits(k["memory_percent"]), digits(k["arithmetic_percent"]), digits(k["warps_percent"]), digits(k["registers"]),
                   f"{digits(k['sectors_per_load'], 1)}, {digits(k['sectors_per_store'], 1)}", digits(k["bank_conflicts"])) for name, k in rows])


def time_text(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def measured(m):
    if "median" not in m:
        return f"{m['verdict']}: {m['note']}" if m["verdict"] in ("failed", "late") else m["verdict"].replace("_", " ")
    return time_text(m["median"]) + (f" ({m['note']})" if m["note"] else "")


def share(floor, row):
    """What Etalon reaches of the floor's speed."""
    own = next((m["median"] for m in row["measured"] if m["competitor"] == "etalon" and "median" in m), None)
    return f"{100 * floor / own:.0f} %" if floor and own else ""


def times(found, ceilings):
    floors = [prediction(ceilings, r["flops"], r["bytes"]) for r in found["rows"]]
    names = [m["competitor"] for m in found["rows"][0]["measured"]] if found["rows"] else []
    lines = table(["workload", "floor", *names, "floor / etalon", "best peer / etalon"],
                  [(r["workload"], time_text(floor) if floor else "", *(measured(m) for m in r["measured"]), share(floor, r),
                    f"{r['ratio']:.3g}" if r["ratio"] else "") for r, floor in zip(found["rows"], floors)])
    return lines + ["Medians of seconds of a run, of many in a row over their number, between two waits, after others that were not counted; inputs and results stay",
                    "on the device. Etalon waits for the device after every run, its peers after the last. No time without agreement: results are compared with f64",
                    "first. The floor is bytes over the speed of a copy or operations over that of an f32 product, whichever is more, both as PyTorch does them here;",
                    "what fits into the card's cache may be faster.", "",
                    *(f"- {name}: {version}" for name, version in found["who"].items() if version), *(f"- {name}: not here, {why}" for name, why in found["absent"].items()), ""]


def ceilings_found(found):
    return table(["what", "found"], [(k, f"{v:.4g}") for k, v in found["ceilings"].items()])


PARTS = {"ceilings": ceilings_found, "facts": facts, "digests": digests, "conform": conform, "functions": functions, "sanitizer": sanitizer, "counters": counters}


def part(name, found, ceilings):
    if name in ("times", "peers"):
        return times(found, ceilings)
    return PARTS[name](found)


def page(contents):
    """Markdown; a stage that has no rows has its line alone. Whoever keeps a run may add "notes" to it."""
    stages = {name: found for content in contents for name, found in content["stages"].items()}
    emulated = all(content["device"] != "cuda" for content in contents)
    lines = ["# On a GPU", "", first_line(contents), "", "Written by `tools/gpu/page` from what `tools/gpu/check` found" + (" on the emulated device" if emulated else "")
             + "; what is asked, and why: [decision 0080](decisions/0080-what-travels-to-a-gpu.md). Kernels of some programs and what they take: "
             "[What kernels look like](gpu/kernels.md).", ""]
    lines += table(["stage", "status", "found"], [(name, found["status"], found["line"]) for name, found in stages.items()])
    lines += [line for content in contents for note in content.get("notes", []) for line in (f"- {note}",)] + [""]
    for name, found in stages.items():
        if any(k in found for k in ("rows", "tools", "ceilings")):
            lines += [f"## {name}", "", *part(name, found, stages.get("ceilings", {}).get("ceilings")), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
