"""Stage `sanitizer`: NVIDIA's compute-sanitizer over some workloads."""
import concurrent.futures
import itertools
import re
import shutil

from expectations import SEED
from record import FAILED, LATE, PASSED, SKIPPED, result

TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]
AT_MOST = 60  # seconds of one tool over one workload
AT_ONCE = 4


def sanitized(check, deadline, tool, name):
    done = deadline.run(["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--error-exitcode", "9",
                         check.etalon, "bench", "bits", "--devices", check.backend, "--only", name, "--seed", SEED], AT_MOST)
    summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", done.out)
    row = {"tool": tool, "workload": name, "seconds": round(done.seconds, 2)}
    if done.status is None:
        return {**row, "status": LATE, "why": done.why}
    if done.ok and summary:
        return {**row, "status": PASSED}
    said = [line for line in done.out.splitlines() if line.startswith("=========") and line.strip("= ")]
    return {**row, "status": FAILED, "why": summary[0] if summary else done.why, "said": said[:40]}


def stage(check, deadline):
    if check.backend != "cuda":
        return result(SKIPPED, "only for a card")
    if shutil.which("compute-sanitizer") is None:
        return result(SKIPPED, "compute-sanitizer is not installed")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(lambda one: sanitized(check, deadline, *one), itertools.product(TOOLS, check.expected["sanitized"])))
    wrong = [r for r in rows if r["status"] != PASSED]
    line = f"{len(rows) - len(wrong)} of {len(rows)} runs of {len(TOOLS)} tools without a finding"
    if wrong:
        line += f"; {wrong[0]['tool']} of {wrong[0]['workload']}: {wrong[0]['why']}"
    return result(FAILED if any(r["status"] == FAILED for r in wrong) else LATE if wrong else PASSED, line, rows=rows)
