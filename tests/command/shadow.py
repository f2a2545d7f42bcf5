"""Checks of steps while a run trains, as their users meet them: counted in the journal, certified, resumed, refused.

Usage: shadow.py ETALON
"""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

etalon = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()
refused = check.refused
task = ["moons", "--epochs", "10", "--no-plots"]
policy = "replay=1/4,judge=1/40"


def run(*words):
    return subprocess.run([etalon, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=folder)


def journal(name):
    return [json.loads(line) for line in (folder / name / "journal.jsonl").read_text().splitlines()]


def drawn(what, name, step, of):
    """Whether a step is checked: the first eight bytes of a SHA-256, written once more."""
    run_id = hashlib.sha256((folder / name / "run.json").read_bytes()).hexdigest()
    digest = hashlib.sha256(f"{what} {run_id} {step}".encode()).digest()
    return int.from_bytes(digest[:8], "big") <= (2**64 - 1) // of


trained = run("train", *task, "--run", "r", "--shadow", policy)
check(trained.returncode == 0, f"train: {trained.stderr}")
declared = json.loads((folder / "r" / "run.json").read_text())
said = re.findall(r"with probability ([\d.e-]+) where (.*)", trained.stdout)
expected = [1 - (1 - 1e-3 * (1 / 4 + 3 / 4 / 40)) ** declared["steps"], 1 - (1 - 1e-3 / 40) ** declared["steps"]]
check([chance for chance, _ in said] == [f"{chance:.3g}" for chance in expected], f"power: {said}, expected {expected}")
check(declared["shadow"] == policy, f"the policy in run.json: {declared.get('shadow')}")

# The steps that are checked are those that follow from the run, interval by interval.
lines = journal("r")
for line in lines:
    steps = range(line["step"] - declared["interval"], line["step"])
    counts = [sum(drawn(what, "r", step, of) for step in steps) for what, of in (("replay", 4), ("judge", 40))]
    results = line.get("shadow", {"replayed": 0, "judged": 0, "transient": []})
    check([results["replayed"], results["judged"]] == counts and results["transient"] == [], f"interval {line['interval']}: {results}, expected {counts}")
replayed, judged, elements = (sum(line.get("shadow", {}).get(key, 0) for line in lines) for key in ("replayed", "judged", "elements"))
check(150 < replayed < 250 and 10 <= judged <= 35 and elements > 1000 * judged, f"{replayed} replayed, {judged} judged, {elements} elements")

# The numbers are those of the run that is not checked, and of one that is ended in between.
check(run("train", *task, "--run", "plain").returncode == 0, "train without checks")
bits = [(line["state"], line["losses"]) for line in lines]
check(bits == [(line["state"], line["losses"]) for line in journal("plain")], "checks change the numbers")
check("shadow" not in json.loads((folder / "plain" / "run.json").read_text()) and "shadow" not in journal("plain")[0], "a policy where none was asked for")
shutil.copytree(folder / "r", folder / "again")
for checkpoint in (folder / "again" / "checkpoints").iterdir():
    if int(checkpoint.name.split("-")[1]) > 400:
        shutil.rmtree(checkpoint)
(folder / "again" / "journal.jsonl").write_text("".join((folder / "r" / "journal.jsonl").read_text().splitlines(keepends=True)[:50]))
resumed = run("resume", "again", "--no-plots")
check(resumed.returncode == 0 and f"shadow {policy}" in resumed.stdout, f"resume: {resumed.stdout[-300:]} {resumed.stderr}")
check(journal("again") == lines, "a run that is gone on with has other results of checks")

# Certified, and another count is none.
subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "k.pem"], cwd=folder, check=True, capture_output=True)
subprocess.run(["openssl", "pkey", "-in", "k.pem", "-pubout", "-out", "k.pub"], cwd=folder, check=True)
check(run("certify", "r", "--key", "k.pem", "-o", "c.json").returncode == 0, "certify")
verified = run("verify", "c.json", "--key", "k.pub", "--run", "r")
check(verified.returncode == 0 and f"{policy}: {replayed} steps replayed, {judged} judged, 0 transient faults" in verified.stdout, f"verify: {verified.stdout}")
check(run("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "3").returncode == 0, "audit")
shutil.copytree(folder / "r", folder / "f")
text = (folder / "f" / "journal.jsonl").read_text()
check('"replayed":1,' in text, "an interval with one replay")
(folder / "f" / "journal.jsonl").write_text(text.replace('"replayed":1,', '"replayed":2,', 1))
forged = run("verify", "c.json", "--key", "k.pub", "--run", "f")
check(forged.returncode == 1 and "what was checked is" in forged.stdout, f"verify of another count: {forged.stdout}")

# Leaves are computed again and judged; who asks for nothing that there is, is told so.
check(run("train", *task, "--batch", "12", "--grain", "4", "--run", "leaves", "--shadow", "replay=1/9").returncode == 0, "train in leaves")
check(run("train", *task, "--batch", "12", "--grain", "4", "--run", "judged", "--shadow", "judge=1/40").returncode == 0, "judge leaves")
found = [json.loads(line).get("shadow", {}) for line in (folder / "judged/journal.jsonl").read_text().splitlines()]
check(sum(one.get("judged", 0) for one in found) > 3 and sum(one.get("elements", 0) for one in found) > 3000, f"leaves judged: {found}")
check(not any(one.get("transient") or one.get("undecided") for one in found), "honest leaves raise an alarm")
refused(run("train", *task, "--shadow", "replay=1/9"), 2, ["--shadow", "--run"])
for wrong in ("replay=9", "replay=1/0", "judge", "replay=1/2,replay=1/2", "replay=1/2,", "verify=1/2"):
    refused(run("train", *task, "--run", "none", "--shadow", wrong), 2, ["--shadow", "expected replay=1/N"])
check(not (folder / "none").exists(), "a run that was refused is there")
(folder / "f" / "run.json").write_text((folder / "r" / "run.json").read_text().replace(policy, "replay=1/x"))
refused(run("resume", "f"), 2, ["run.json", "shadow", "replay=1/x"])

sys.exit(check.status(50))
