"""The page of a run: check.json as Markdown."""


def cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(cell(v) for v in row) + " |" for row in rows] + [""]


def first_line(content):
    card = content["stages"].get("facts", {}).get("card")
    if content["device"] != "cuda" or not card:
        return f"Not yet run on a card: this is the emulated device, {content['begun']}."
    return f"Run on an {card['name']}, driver {card['driver_version']}, {content['begun']}."


def facts(found):
    rows = [*(found.get("card") or {}).items(), *found["tools"].items(), *found["packages"].items()]
    return table(["what", "found"], [(k, v or "none") for k, v in rows])


def digests(found):
    return table(["workload", "text calls", "status", "bits"],
                 [(r["workload"], ", ".join(r["library_calls"]) or "nothing", r["status"], r.get("why") or ("the same twice" if r["library_calls"] else "as emulated"))
                  for r in found["rows"]])


def conform(found):
    return table(["type", "operations", "comparisons", "verdicts", "seconds"],
                 [(r["dtype"], r["operations"], r["comparisons"], ", ".join(f"{n} {v}" for v, n in sorted(r["verdicts"].items())), r["seconds"]) for r in found["rows"]]) + [
                     f"- `{f['id']}`: {cell(f['why'])}" for r in found["rows"] for f in r["failed"]]


def functions(found):
    return table(["function", "worst, ulp", "at", "promised", "NaN on one side", "infinite on one side", "status"],
                 [(r["function"], f"{r['worst']:.4g}" if "worst" in r else "", r.get("operand", r.get("why")), r["promised"], r.get("nan_mismatches", ""),
                   r.get("infinity_mismatches", ""), r["status"]) for r in found["rows"]])


def sanitizer(found):
    return table(["tool", "workload", "status", ""], [(r["tool"], r["workload"], r["status"], r.get("why", "")) for r in found["rows"]])


PARTS = {"facts": facts, "digests": digests, "conform": conform, "functions": functions, "sanitizer": sanitizer}


def page(content):
    """Markdown; a stage that has no rows has its line alone."""
    lines = ["# On a GPU", "", first_line(content), "", "Written by `tools/gpu/page` from what `tools/gpu/check` found.", ""]
    lines += table(["stage", "status", "found"], [(name, found["status"], found["line"]) for name, found in content["stages"].items()])
    for name, found in content["stages"].items():
        if name in PARTS and ("rows" in found or name == "facts" and "tools" in found):
            lines += [f"## {name}", "", *PARTS[name](found), ""]
    return "\n".join(lines).rstrip() + "\n"
