"""`etalon certify-robust` as its users meet it: runs, programs of one's own, and what is refused in one line.

Usage: robust.py ETALON
"""
import gzip
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from checks import Checks

etalon = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()


def run(*words):
    return subprocess.run([etalon, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=folder)


def refused(words, *arguments):
    """One line on standard error with these words, and nothing written."""
    ran = run("certify-robust", *arguments, "--json", "refused.json")
    check.refused(ran, 2, words)
    check(ran.stdout == "" and not (folder / "refused.json").exists(), f"{arguments}: something was written")


def certified(*arguments):
    ran = run("certify-robust", *arguments, "--json", "found.json")
    check(ran.returncode == 0, f"{arguments}: status {ran.returncode}: {ran.stderr}")
    return json.loads((folder / "found.json").read_text()) if ran.returncode == 0 else {"each": [], "shares": []}


def safetensors(tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        bytes_of = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def of_a_run():
    check(run("train", "digits", "--epochs", 20, "--no-plots", "--run", "r").returncode == 0, "digits do not train")
    found = certified("r", "--rows", "3:11", "--epsilon", "1/512,1/64", "--method", "ibp,sweep,crown,best")
    check([r["row"] for r in found["each"]] == list(range(3, 11)), "rows 3 to 10 are not those of --rows 3:11")
    for r in found["each"]:
        near, far = r["margins"][:4], r["margins"][4:]
        check(all(x > y for x, y in zip(near, far)), f"row {r['row']}: a wider box has no smaller margin: {r['margins']}")
        check(all(m[3] >= max(m[:3]) for m in (near, far)), f"row {r['row']}: best is not the best: {r['margins']}")
        check(not any(m > 0 for m in r["margins"]) or r["answer"] == r["label"], f"row {r['row']}: a wrong answer is certified")
    for share in found["shares"]:
        place = [0, 1].index(int(share["epsilon"] > 1 / 100)) * 4 + ["ibp", "sweep", "crown", "best"].index(share["method"])
        check(share["certified"] == sum(r["margins"][place] > 0 for r in found["each"]), f"a share is not that of its rows: {share}")
    counts = [s["certified"] for s in found["shares"]]
    check(counts[2] > 0 and counts[4] < counts[6], f"the shares say nothing: {counts}")
    # A box that is cut where the data ends is smaller.
    cut = certified("r", "--rows", "3:11", "--epsilon", "1/64", "--method", "ibp", "--least", 0, "--most", 1)
    check(all(c["margins"][0] > r["margins"][4] for c, r in zip(cut["each"], found["each"])), "cutting boxes changes nothing")
    for epsilon, status in (("1/4", 1), (0, 0)):
        ran = run("certify-robust", "r", "--rows", "3:11", "--epsilon", epsilon, "--method", "ibp", "--require", 0.5)
        check(ran.returncode == status, f"--require 0.5 for {epsilon}: status {ran.returncode}, expected {status}")
    refused(["--epsilon", "'x'"], "r", "--epsilon", "x")
    refused(["--epsilon", "'-1'"], "r", "--epsilon", "-1")
    refused(["--epsilon", "'1/0'"], "r", "--epsilon", "1/0")
    refused(["--rows", "360", "'0:361'"], "r", "--rows", "0:361")
    refused(["--rows", "'5'"], "r", "--rows", "5")
    refused(["nowhere"], "nowhere")
    refused(["--program"], "r", "--program", "net.txt")
    refused(["run", "--program"])
    (folder / "other.csv.gz").write_bytes(gzip.compress(b"1,2\n"))
    refused(["other.csv.gz"], "r", "--data", "other.csv.gz")


def of_own_data():
    draw = random.Random(1)
    lines = [f"{x},{y},{'left' if x < 0 else 'right'}" for x, y in ((draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(120))]
    (folder / "sides.csv").write_text("x,y,side\n" + "\n".join(lines) + "\n")
    ran = run("train", "--data", "sides.csv", "--target", "side", "--epochs", 30, "--no-plots", "--run", "own")
    check(ran.returncode == 0, f"own data does not train: {ran.stderr}")
    found = certified("own", "--epsilon", 0.01, "--method", "crown")
    check(len(found["each"]) == 12 and found["shares"][0]["certified"] >= 6, f"of rows of one's own: {found['shares']}")
    (folder / "sides.csv").write_text("x,y,side\n" + "\n".join(lines[1:]) + "\n")
    refused(["sides.csv", "SHA-256"], "own")


def of_a_program():
    """Two classes by the sign of x - y: the margin is known exactly."""
    (folder / "net.txt").write_text("input p : f32[1, 2]\nparameter w : f32[2, 2]\nq = linear(p, w, _)\na = relu(q)\noutput a\n")
    (folder / "w.safetensors").write_bytes(safetensors({"w": ([2, 2], [1, -1, -1, 1])}))
    (folder / "rows.csv").write_text("0.5,0,0\n0,0.25,1\n0.25,0,1\n")
    words = ["--program", "net.txt", "--values", "w.safetensors", "--data", "rows.csv", "--no-header", "--target", 3, "--classes", 2]
    found = certified(*words, "--epsilon", 0.125, "--method", "crown")
    # x - y is 0.5 ± 0.25, -0.25 ± 0.25 and, of a wrong label, 0.25 ± 0.25.
    for r, margin in zip(found["each"], [0.25, 0, -0.5]):
        check(abs(r["margins"][0] - margin) <= 1e-5, f"row {r['row']}: margin {r['margins'][0]}, expected {margin}")
    check([r["answer"] for r in found["each"]] == [0, 1, 0], f"answers {found['each']}")
    check(found["shares"][0]["certified"] == 1, "one row is certified")
    refused(["w", "no value"], *[w for w in words if w not in ("--values", "w.safetensors")], "--epsilon", 0.1)
    (folder / "bad.safetensors").write_bytes(safetensors({"w": ([4], [1, -1, -1, 1])}))
    refused(["w", "[2, 2]", "[4]"], *["bad.safetensors" if w == "w.safetensors" else w for w in words], "--epsilon", 0.1)
    (folder / "wide.csv").write_text("0.5,0,1,0\n")
    refused(["3 numbers", "2"], *["wide.csv" if w == "rows.csv" else 4 if w == 3 else w for w in words], "--epsilon", 0.1)
    (folder / "cut.safetensors").write_bytes((folder / "w.safetensors").read_bytes()[:40])
    refused(["cut.safetensors"], *["cut.safetensors" if w == "w.safetensors" else w for w in words], "--epsilon", 0.1)
    refused(["--data"], "--program", "net.txt")


of_a_run()
of_own_data()
of_a_program()
sys.exit(check.status(60))
