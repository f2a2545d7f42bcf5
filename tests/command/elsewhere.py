"""Another machine goes on with a run and audits it from the folder alone: here a processor that QEMU computes, which has AVX2 and no
AVX-512, with nothing but a copy of the folder, the certificate and the key. Skipped (77) without QEMU. Usage: elsewhere.py ETALON QEMU"""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

from checks import Checks

etalon = sys.argv[1]
qemu = sys.argv[2] if len(sys.argv) > 2 else ""
if not pathlib.Path(qemu).is_file() or platform.machine() != "x86_64":
    print("skipped: no QEMU for x86-64; on Debian: apt-get install qemu-user")
    sys.exit(77)
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()


def run(*words, machine=(), where="here"):
    (folder / where).mkdir(exist_ok=True)
    return subprocess.run([*machine, etalon, *map(str, words)], capture_output=True, text=True, timeout=600, cwd=folder / where,
                          env={**os.environ, "ETALON_CACHE": "off"})


def elsewhere(*words):
    return run(*words, machine=(qemu, "-cpu", "Haswell"), where="there")


def lines_of(path):
    return [json.loads(line) for line in (folder / path).read_text().splitlines()]


check("avx2, 8 f32" in elsewhere("devices").stdout, "QEMU computes another processor than was asked for")
check(run("train", "moons", "--epochs", "1", "--interval", "10", "--run", "r", "--no-plots").returncode == 0, "train")
for words in (["genpkey", "-algorithm", "ed25519", "-out", "k.pem"], ["pkey", "-in", "k.pem", "-pubout", "-out", "k.pub"]):
    subprocess.run(["openssl", *words], cwd=folder / "here", check=True, capture_output=True)
check(run("certify", "r", "--key", "k.pem", "-o", "c.json").returncode == 0, "certify")

# What is copied: the run as it was after its start, and as it is now.
for name in ("c.json", "k.pub"):
    shutil.copy(folder / "here" / name, folder / "there")
shutil.copytree(folder / "here/r", folder / "there/r")
shutil.copytree(folder / "here/r", folder / "there/begun")
for checkpoint in (folder / "there/begun/checkpoints").iterdir():
    if not checkpoint.name.startswith("step-0-"):
        shutil.rmtree(checkpoint)
(folder / "there/begun/journal.jsonl").write_text("")

ran = elsewhere("resume", "begun", "--no-plots")
journal = (folder / "there/begun/journal.jsonl").read_text()
check(ran.returncode == 0 and len(journal.splitlines()) == 8, f"resume: {ran.returncode} {ran.stderr[-300:]!r}")
check(journal == (folder / "here/r/journal.jsonl").read_text(), "another machine comes to another journal")
check(lines_of("there/begun/environments.jsonl")[-1]["vectors"] == "avx2", "it is not noted where it went on")
ran = elsewhere("audit", "c.json", "--key", "k.pub", "--run", "r", "--intervals", "2", "--json", "a.json")
found = json.loads((folder / "there/a.json").read_text())
same = [i["same"] for i in found["intervals"]]
check(ran.returncode == 0 and found["holds"] and same == [True] * 2, f"audit: {ran.stdout!r} {ran.stderr[-300:]!r}")

# And says so where the run is not what was certified.
lines = lines_of("here/r/journal.jsonl")
lines[0] = {**lines[0], "losses": "0" * 64}  # those of the checkpoints that are there would be refused before
(folder / "here/r/journal.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
check(run("certify", "r", "--key", "k.pem", "-o", "forged.json").returncode == 0, "certify what is forged")
shutil.copy(folder / "here/forged.json", folder / "there")
shutil.copy(folder / "here/r/journal.jsonl", folder / "there/r")
ran = elsewhere("audit", "forged.json", "--key", "k.pub", "--run", "r", "--all", "--json", "b.json")
check(ran.returncode == 1, f"a forged interval: {ran.returncode} {ran.stdout!r} {ran.stderr[-300:]!r}")
forged = json.loads((folder / "there/b.json").read_text()) if (folder / "there/b.json").exists() else {"holds": None, "intervals": []}
check(forged["holds"] is False and len(forged["intervals"]) == 8 and not forged["intervals"][0]["same"], f"the forged interval: {forged}")

sys.exit(check.status(10))
