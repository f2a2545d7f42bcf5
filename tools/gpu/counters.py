"""Stage `counters`: what the card's own counters say of each kernel of some workloads, by NVIDIA's ncu."""
import csv
import pathlib
import shutil
import tempfile

from expectations import SEED
from record import FAILED, LATE, PASSED, SKIPPED, result

# Of ncu, with the names of our columns.
METRICS = {
    "gpu__time_duration.sum": "nanoseconds",
    "dram__bytes.sum": "bytes",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "arithmetic_percent",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps_percent",
    "launch__registers_per_thread": "registers",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": "sectors_per_load",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": "sectors_per_store",
    "l1tex__data_bank_conflicts_pipe_lsu.sum": "bank_conflicts",
}
LAUNCHES = 40  # of one workload at most: the first run of it, or the beginning
AT_MOST = 60   # seconds of one workload


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def kernels_of(log):
    """One dictionary per launch, of a log in CSV by launches: names, units, then values."""
    rows = list(csv.reader(line for line in log.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    named = [dict(zip(rows[0], row)) for row in rows[2:]]
    return [{"kernel": row["Kernel Name"].split("(")[0], "grid": row["Grid Size"], "block": row["Block Size"],
             **{ours: number(row.get(theirs, "")) for theirs, ours in METRICS.items()}} for row in named]


def counted(check, deadline, name):
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        done = deadline.run(["ncu", "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw", "--print-units", "base", "--log-file", log,
                             "--launch-count", LAUNCHES, "--metrics", ",".join(METRICS), check.etalon, "bench", "bits", "--devices", check.backend, "--only", name,
                             "--seed", SEED], AT_MOST)
        kernels = kernels_of(log.read_text(errors="replace")) if log.exists() else []
    row = {"workload": name, "seconds": round(done.seconds, 1), "kernels": kernels}
    return {**row, "status": PASSED} if done.ok and kernels else {**row, "status": LATE if done.status is None else FAILED, "why": done.why}


def stage(check, deadline):
    if check.backend != "cuda":
        return result(SKIPPED, "only for a card")
    if shutil.which("ncu") is None:
        return result(SKIPPED, "ncu is not installed")
    rows = [counted(check, deadline, name) for name in check.counted or check.expected["counted"] if deadline.left() > 0]
    wrong = [r for r in rows if r["status"] != PASSED]
    line = f"{sum(len(r['kernels']) for r in rows)} launches of {len(rows)} workloads" + (f"; {wrong[0]['workload']}: {wrong[0]['why']}" if wrong else "")
    return result(FAILED if any(r["status"] == FAILED for r in wrong) else LATE if wrong else PASSED, line, rows=rows)
