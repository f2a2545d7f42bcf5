"""Stages `times` and `peers`: the same work by Etalon on the device and by PyTorch and JAX, results compared first (`etalon bench --device`).

`times` has who is ready at once; `peers` those who compile for long, and Etalon again, since only times of one run are compared."""
import json
import statistics

from record import FAILED, LATE, PASSED, result

AT_ONCE, COMPILING = ["etalon", "pytorch", "pytorch-graph"], ["etalon", "pytorch-compile", "jax"]
LARGE = ["large", "train-moons", "train-mlp", "train-cnn", "train-gpt"]
SMALL = ["gemm-16", "moons-vjp", "train-moons"]  # what the emulated device does in no time
SAMPLING = 1.5  # seconds per workload


def summary(measurement):
    seconds = measurement["seconds"]
    kept = {k: measurement[k] for k in ("competitor", "verdict", "note", "error", "first_seconds")}
    return {**kept, "median": statistics.median(seconds), "best": min(seconds), "samples": len(seconds)} if seconds else kept


def row_of(cell):
    measured = [summary(m) for m in cell["measurements"]]
    own = next((m.get("median") for m in measured if m["competitor"] == "etalon"), None)
    others = [m["median"] for m in measured if m["competitor"] != "etalon" and "median" in m]
    return {"workload": cell["workload"], "what": cell["what"], "flops": cell["flops"], "bytes": cell["bytes"],
            "measured": measured, "ratio": min(others) / own if others and own else None}


def line_of(rows, absent):
    agree = sum(any(m["competitor"] == "etalon" and "median" in m for m in r["measured"]) for r in rows)
    text = f"{agree} of {len(rows)} workloads with results that agree"
    ratios = [r["ratio"] for r in rows if r["ratio"]]
    if ratios:
        text += f"; best peer over Etalon {min(ratios):.3g} to {max(ratios):.3g}, geometric mean {statistics.geometric_mean(ratios):.3g}"
    return text + "".join(f"; {name} is not here: {why}" for name, why in absent.items())


def measured_with(competitors, name):
    def stage(check, deadline):
        path = check.out / f"{name}.json"
        path.unlink(missing_ok=True)
        present = competitors if check.backend == "cuda" else competitors[:1]
        done = deadline.run([check.etalon, "bench", "--device", check.backend, "--only", ",".join(check.timed or (LARGE if check.backend == "cuda" else SMALL)),
                             "--competitors", ",".join(present), "--threads", check.jobs, "--seconds-per-workload", SAMPLING, "--limit", check.limit,
                             "--json", path, "--quiet"])
        if not path.exists() or not path.read_text():
            return result(LATE if done.status is None else FAILED, done.why)
        run = json.loads(path.read_text())
        rows = [row_of(cell) for cell in run["cells"]]
        absent = {p["name"]: p["absent"] for p in run["participants"] if p["absent"]}
        sound = all(m["verdict"] == "agrees" for r in rows for m in r["measured"] if m["competitor"] == "etalon") and rows and "etalon" not in absent
        status = FAILED if not sound else LATE if done.status is None else PASSED
        return result(status, line_of(rows, absent), rows=rows, who={p["name"]: p["version"] for p in run["participants"]}, absent=absent)

    return stage
