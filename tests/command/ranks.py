"""Training across processes: which rank and which device computes what changes no bit; a lost rank loses no more than the last interval.

Usage: ranks.py ETALON [all]. Each two of ranks, devices and leaves meet; with `all`, each three.
"""
import concurrent.futures
import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks

etalon = pathlib.Path(sys.argv[1]).resolve()
GRAINS, RANKS, DEVICES = (48, 8, 6), (1, 2, 3, 4), (1, 2, 3)
if shutil.which("mpirun") is None or not (etalon.parent / "ranks" / "ranks-mpi.so").exists():
    print("no Open MPI: apt-get install libopenmpi-dev openmpi-bin")
    sys.exit(1 if os.environ.get("CI") else 77)

scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()
environment = {**os.environ, "ETALON_CACHE": str(folder / "cache"), "OMPI_MCA_btl": "self,vader",}
launcher = ["mpirun", "--oversubscribe", "--allow-run-as-root"]
own = ["--data", "d.csv", "--target", "kind", "--batch", "48", "--epochs", "3", "--interval", "1", "--no-plots"]


def run(words, **changes):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=60, cwd=folder, env={**environment, **changes})


def ranks(count, *words):
    return run([*launcher, "-n", count, etalon, *words] if count > 1 else [etalon, *words])


def contents(name):
    """What a run has come to: its declaration, its journal, and the states that its checkpoints hold; not which machines it had."""
    files = sorted(p for p in (folder / name).rglob("*")
                   if p.is_file() and p.suffix in {".json", ".jsonl", ".safetensors"} and p.name != "environments.jsonl")
    return {str(p.relative_to(folder / name)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def line_of(ran):
    """What the command said: the launcher frames its own words, and they follow."""
    return [line for line in ran.stderr.splitlines() if line.startswith(("rank ", "--ranks", "ranks: "))]


random.seed(5)
rows = [(random.gauss(k, 1), random.gauss(-k, 1), "xyz"[k]) for k in (random.randrange(3) for _ in range(120))]
(folder / "d.csv").write_text("a,b,kind\n" + "".join(f"{a:.3f},{b:.3f},{k}\n" for a, b, k in rows))
(folder / "other.csv").write_text("a,b,kind\n" + "".join(f"{a:.3f},{b:.3f},{k}\n" for a, b, k in rows[::-1]))

# Ranks, devices, leaves: where ranks times devices are fewer than leaves, some accumulate.
for grain in GRAINS:
    alone = f"r{grain}"
    check(ranks(1, "train", *own, "--grain", grain, "--run", alone).returncode == 0, alone)
    wanted = contents(alone)
    check(len(wanted) >= 5 and len((folder / alone / "journal.jsonl").read_text().splitlines()) == 6, f"{alone}: {wanted}")
    for count, devices in itertools.product(RANKS, DEVICES):
        if "all" not in sys.argv[2:] and GRAINS[(count + devices) % len(GRAINS)] != grain:
            continue
        name = f"r{grain}-{count}-{devices}"
        ran = ranks(count, "train", *own, "--grain", grain, "--devices", devices, "--ranks", count, "--run", name)
        check(ran.returncode == 0 and contents(name) == wanted, f"{name}: status {ran.returncode}, {contents(name)}, expected {wanted}: {ran.stderr}")

# Idle ranks are said; checked steps are computed again as they are by one process.
ran = ranks(3, "train", *own, "--grain", 24, "--run", "idle")
check("3 ranks compute the 2 leaves of a step; 1 of them has nothing to compute" in ran.stdout, f"idle: {ran.stdout}")
for count in (1, 2):
    check(ranks(count, "train", *own, "--grain", 8, "--shadow", "replay=1/2", "--run", f"shadow{count}").returncode == 0, f"shadow {count}")
check(contents("shadow1") == contents("shadow2"), "a shadow's journal depends on the ranks")
check("replayed" in (folder / "shadow2" / "journal.jsonl").read_text(), "no step was replayed")

# A rank is lost: the run stands at a checkpoint, and other numbers of ranks go on with it to the same bits.
many = ["--data", "d.csv", "--target", "kind", "--batch", "48", "--grain", "8", "--epochs", "400", "--interval", "4", "--no-plots"]
check(ranks(1, "train", *many, "--run", "whole").returncode == 0, "the uninterrupted run")
wanted = contents("whole")


def rank_of(pid):
    try:
        variables = (pathlib.Path("/proc") / pid / "environ").read_bytes().split(b"\0")
        line = (pathlib.Path("/proc") / pid / "cmdline").read_bytes()
    except OSError:
        return None
    mine = str(folder).encode() in line or f"ETALON_CACHE={folder / 'cache'}".encode() in variables
    return next((v.split(b"=")[1] for v in variables if mine and v.startswith(b"OMPI_COMM_WORLD_RANK=")), None)


for lost, then in ((b"1", 2), (b"0", 1)):
    name = f"lost{lost.decode()}"
    job = subprocess.Popen([*launcher, "-n", "3", str(etalon), "train", *many, "--run", name], cwd=folder, env=environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    journal = folder / name / "journal.jsonl"
    while job.poll() is None and not (journal.exists() and journal.read_text().count("\n") >= 3):
        time.sleep(0.01)
    victims = [pid for pid in os.listdir("/proc") if pid.isdigit() and rank_of(pid) == lost]
    check(len(victims) == 1, f"{name}: processes {victims}")
    for pid in victims:
        os.kill(int(pid), signal.SIGKILL)
    said = job.communicate(timeout=120)[1]
    check(job.returncode != 0 and sum("exited on signal 9" in line for line in said.splitlines()) == 1, f"{name}: {job.returncode}, {said}")
    done = journal.read_text().count("\n")
    check(3 <= done < 200, f"{name}: {done} intervals when a rank was lost")
    ran = ranks(then, "resume", name, "--no-plots")
    check(ran.returncode == 0 and contents(name) == wanted, f"{name}: resumed by {then}: {ran.returncode}, {ran.stderr}")

# Ranks that would train another run: one line names the rank and what differs, and there is no run.
def with_another(change):
    """Rank 0 as it should be, and rank 1 with an option that is another. The launcher takes seconds to end them, most of them asleep."""
    option, value = change
    other = own[:]
    if option in other:
        other[other.index(option) + 1] = value
    else:
        other += [option, value]
    return run([*launcher, "-n", "1", etalon, "train", *own, "--grain", "8", "--run", "none", ":", "-n", "1", etalon, "train", *other, "--grain", "8", "--run", "none"])


CHANGES = ((("--seed", "2"), ["rank 1", "seed is 2, expected 1"]), (("--data", "other.csv"), ["rank 1", "own/files/0/"]),
           (("--rate", "0.1"), ["rank 1", "own/", "0.1"]), (("--epochs", "4"), ["rank 1", "epochs is 4, expected 3"]),
           (("--data", "none.csv"), ["rank 1", "none.csv"]))
with concurrent.futures.ThreadPoolExecutor() as several:
    ended = list(several.map(with_another, [change for change, _ in CHANGES]))
for (change, words), ran in zip(CHANGES, ended):
    lines = line_of(ran)
    check(ran.returncode == 2 and len(lines) == 1 and all(w in lines[0] for w in words) and not (folder / "none").exists(),
          f"{change}: {ran.returncode}, {lines}, expected {words}")

# The launcher kills those that have not ended when the first has ended with 2: what is wrong is said although rank 0 is the last.
(folder / "late.c").write_text("""#include <stdlib.h>
#include <unistd.h>
int PMPI_Finalize(void);
int MPI_Finalize(void) {
  const int code = PMPI_Finalize();
  if (*getenv("OMPI_COMM_WORLD_RANK") == '0') sleep(2);
  return code;
}
""")
check(run(["mpicc", "-shared", "-fPIC", "-o", "late.so", "late.c"]).returncode == 0, "late.c is not compiled")
other = ["other.csv" if w == "d.csv" else w for w in own]
ran = run([*launcher, "-x", f"LD_PRELOAD={folder}/late.so", "-n", "1", etalon, "train", *own, "--run", "none", ":", "-n", "1", etalon, "train", *other, "--run", "none"])
check(ran.returncode == 2 and len(line_of(ran)) == 1, f"a late rank 0: {ran.returncode}, {ran.stderr}")

# What is wrong with the run is said once, whoever meets it.
WRONG = ((["train", *own, "--run", "r8"], "there is a run already"), (["resume", "nowhere"], "nowhere/run.json"),
         (["train", "digit"], "unknown task 'digit'"), (["train", *own, "--ranks", "2"], "--ranks 2: 3 processes were started, expected 2"))
with concurrent.futures.ThreadPoolExecutor() as several:
    ended = list(several.map(lambda wrong: ranks(3, *wrong[0]), WRONG))
for (words, said), ran in zip(WRONG, ended):
    check(ran.returncode == 2 and ran.stderr.count(said) in ({1} if "--ranks" not in words else {1, 2, 3}), f"{words}: {ran.returncode}, {ran.stderr}")

# Without a launcher, and without the module.
ran = run([etalon, "train", *own, "--ranks", "3"])
check(ran.returncode == 2 and line_of(ran) == ["--ranks 3: 1 process was started, expected 3: mpirun -n 3 etalon …"], f"alone: {ran.stderr}")
(folder / "bin").mkdir()
shutil.copy(etalon, folder / "bin" / "etalon")
ran = run([folder / "bin" / "etalon", "train", *own], OMPI_COMM_WORLD_SIZE="2")
check(ran.returncode == 2 and len(line_of(ran)) == 1 and "etalon-mpi" in ran.stderr, f"no module: {ran.returncode}, {ran.stderr}")

# The plan is of any number of ranks, and runs nothing.
ran = run([etalon, "train", *[w for w in own if w not in {"--interval", "1"}], "--grain", "8", "--devices", "2", "--ranks", "4", "--plan"])
parts = [line for line in ran.stdout.splitlines() if line.startswith("rank ")]
check(ran.returncode == 0 and [p.split(",")[0] for p in parts] == ["rank 0: leaves 0 to 1", "rank 1: leaves 2 to 3", "rank 2: leaf 4", "rank 3: leaf 5"],
      f"plan: {ran.stdout}")

sys.exit(check.status(36))
