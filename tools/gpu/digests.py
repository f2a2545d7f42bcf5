"""Stage `digests`: bits of workloads on the device, twice, beside those that the emulated device or the processor gave where this was packed.

Where the text calls no function of the mathematical library they must be equal; where it does, the two runs must."""
import concurrent.futures

from expectations import bits, witness
from record import FAILED, LATE, PASSED, result


def judged(check, deadline, name, expected):
    found, done = bits(check.etalon, [check.backend, check.backend], name, deadline.left())
    row = {"workload": name, "library_calls": expected["library_calls"], "expected": expected["sha256"], "seconds": round(done.seconds, 2)}
    if found is None:
        return {**row, "status": LATE if done.status is None else FAILED, "why": done.why}
    row["found"] = found["sha256"]
    if not found["equal"]:
        return {**row, "status": FAILED, "why": f"two runs differ: {found['different']}"}
    if expected["sha256"] and found["sha256"][0] != expected["sha256"]:
        return {**row, "status": FAILED, "why": where_different(check, deadline, name, witness(expected))}
    return {**row, "status": PASSED}


def where_different(check, deadline, name, other):
    """The first tensor and byte that differ from the other device's, which is asked again here."""
    found, done = bits(check.etalon, [other, check.backend], name, deadline.left(60))
    return f"not the expected bits: {found['different'] or f'but those of {other} here'}" if found else f"not the expected bits; {other} here: {done.why}"


def stage(check, deadline):
    with concurrent.futures.ThreadPoolExecutor(max(4, check.jobs // 2)) as pool:
        rows = list(pool.map(lambda item: judged(check, deadline, *item), check.expected["workloads"].items()))
    wrong = [r for r in rows if r["status"] != PASSED]
    exact = [r for r in rows if r["expected"]]
    line = f"{len(rows) - len(wrong)} of {len(rows)} workloads as expected: {len(exact)} are held to expected bits, the others to their own"
    if wrong:
        line += f"; {wrong[0]['workload']}: {wrong[0]['why']}"
    return result(FAILED if any(r["status"] == FAILED for r in wrong) else LATE if wrong else PASSED, line, rows=rows)
