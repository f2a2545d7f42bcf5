"""Stage `conform`: the suite with a fresh seed, f32 first; many processes, since most of the time goes into compiling kernels on the host."""
import concurrent.futures
import gzip
import json
import pathlib
import random
import tempfile

from record import FAILED, LATE, PASSED, result

TYPES = ["f32", "f64", "bf16", "f16"]
SHRINKING = 2  # seconds per counterexample: what failed is kept, and can be made smaller elsewhere
ASKED_OF_EMULATOR = 3  # operations
SHARES_PER_JOB = 4  # a fault on a card ends all that its process still has to ask


def operations(check, deadline):
    """All on a card. The emulated device is too slow for that: some, drawn by the seed."""
    if check.backend == "cuda":
        return []
    shown = deadline.run([check.etalon, "spec", "--json"], 60)
    names = sorted(d["name"] for d in json.loads(shown.out)["definitions"])
    return random.Random(check.seed).sample(names, ASKED_OF_EMULATOR)


def asked(check, deadline, folder, dtype, share, names):
    path = folder / f"{dtype}.{share}.jsonl"
    words = [check.etalon, "conform", "--backend", check.backend, "--dtypes", dtype, "--seed", check.seed, "--jobs", 1, "--shard", f"{share}/{SHARES_PER_JOB * check.jobs}",
             "--shrink-seconds", SHRINKING, "--json", path]
    return deadline.run(words + (["--ops", ",".join(names)] if names else [])), path


def results_in(path):
    """What a process wrote before it ended or was ended; its last line may be half a line."""
    rows = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return [r for r in rows if r.get("kind") == "result"]


def one_type(check, deadline, folder, dtype, names, kept):
    with concurrent.futures.ThreadPoolExecutor(check.jobs) as pool:
        done = list(pool.map(lambda share: asked(check, deadline, folder, dtype, share, names), range(1, SHARES_PER_JOB * check.jobs + 1)))
    rows = [row for _, path in done for row in results_in(path)]
    for row in rows:
        kept.write(json.dumps(row) + "\n")
    verdicts = {}
    for row in rows:
        verdicts[row["verdict"]] = verdicts.get(row["verdict"], 0) + 1
    failed = [r for r in rows if r["verdict"] in ("fail", "crashed", "timeout")]
    broken = [d.why for d, _ in done if d.status not in (0, 1, None)]
    return {"dtype": dtype, "verdicts": verdicts, "comparisons": sum(r.get("comparisons", 0) for r in rows), "operations": len({r["operation"] for r in rows}),
            "seconds": round(max(d.seconds for d, _ in done), 1), "finished": all(d.status is not None for d, _ in done),
            "failed": [{k: r.get(k) for k in ("id", "verdict", "why", "worst_ratio")} for r in failed[:50]], "processes_that_failed": broken[:5]}


def status_of(rows):
    if any(r["failed"] or r["processes_that_failed"] or (r["finished"] and not r["comparisons"]) for r in rows) or not rows:
        return FAILED
    return PASSED if all(r["finished"] for r in rows) else LATE


def stage(check, deadline):
    names = operations(check, deadline)
    rows = []
    with tempfile.TemporaryDirectory() as folder, gzip.open(check.out / "conform.jsonl.gz", "wt") as kept:
        for dtype in TYPES if check.backend == "cuda" else TYPES[:1]:
            if deadline.left() > 1:
                rows.append(one_type(check, deadline, pathlib.Path(folder), dtype, names, kept))
    line = "; ".join(f"{r['dtype']}: {r['operations']} operations, " + ", ".join(f"{n} {v}" for v, n in sorted(r["verdicts"].items())) + f", {r['seconds']:.0f} s"
                     + ("" if r["finished"] else ", not finished") + (f"; {r['processes_that_failed'][0]}" if r["processes_that_failed"] else "") for r in rows)
    return result(status_of(rows), line, asked=names or "all", rows=rows, results="conform.jsonl.gz")
