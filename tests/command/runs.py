"""Training runs in folders as their users meet them: killed at random times and gone on with, interrupted, exported, refused.

Usage: runs.py ETALON [KILLS], or with `exports` in place of KILLS what numpy reads; without numpy that is skipped.
"""
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks

etalon = sys.argv[1]
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()
refused = check.refused
task = ["moons", "--epochs", "100", "--no-plots"]


def run(*words, **more):
    return subprocess.run([etalon, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=folder, **more)


def left(name):
    """What must not depend on how often a run was ended: its declaration, journal, and the state after the last step."""
    last = max((folder / name / "checkpoints").glob("step-*"), key=lambda path: int(path.name.split("-")[1]))
    digest = hashlib.sha256((last / "state.safetensors").read_bytes()).hexdigest()
    return [(folder / name / f).read_text() for f in ("run.json", "journal.jsonl")] + [last.name.split("-")[1], digest]


def newest(name, so_many):
    return sorted((folder / name / "checkpoints").glob("step-*"), key=lambda path: -int(path.name.split("-")[1]))[:so_many]


def kill_until_done(name, seed, whole, seconds):
    """Processes of one run, killed at random times, until one of them ends by itself."""
    chance, kills = random.Random(seed), 0
    while True:
        begun = (folder / name / "run.json").exists()
        threads = ["--threads", str(chance.randint(1, 3))]
        words = ["resume", name, "--no-plots"] if begun else ["train", *task, "--run", name]
        process = subprocess.Popen([etalon, *words, *threads], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, said = process.communicate(timeout=chance.uniform(0.1, 0.9) * seconds)
            check(process.returncode == 0, f"{words}: {process.returncode}, {said!r}")
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            if kills > 1000:
                check(False, f"{name}: killed 1000 times and not done")
                return kills
    check(left(name) == whole, f"{name}, seed {seed}: killed {kills} times, {left(name)[2:]} instead of {whole[2:]}")
    return kills


def killed(count):
    run("train", *task, "--run", "first")  # compiles
    begin = time.monotonic()
    check(run("train", *task, "--run", "whole").returncode == 0, "train --run")
    seconds = time.monotonic() - begin
    whole = left("whole")
    kills = seed = 0
    while kills < count and not check.faults:
        kills += kill_until_done(f"r{seed}", seed, whole, seconds)
        shutil.rmtree(folder / f"r{seed}")
        seed += 1
    print(f"{kills} kills in {seed} runs")


def exports():
    import numpy

    (folder / "e").exists() or run("train", *task, "--run", "e")
    check(run("export", "npz", "e", "-o", "e.npz", "--state").returncode == 0, "export npz")
    check(run("export", "safetensors", "e", "-o", "e.safetensors", "--state").returncode == 0, "export safetensors")
    state = (newest("e", 1)[0] / "state.safetensors").read_bytes()
    check((folder / "e.safetensors").read_bytes() == state, "the exported state is not the checkpoint's file")
    # A reader of its own, from the format's page.
    length = int.from_bytes(state[:8], "little")
    header = json.loads(state[8:8 + length])
    arrays = numpy.load(folder / "e.npz")
    check(set(arrays.files) == set(header), f"npz has {sorted(arrays.files)}, safetensors {sorted(header)}")
    types = {"F32": "<f4", "I64": "<i8", "F64": "<f8"}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        array = numpy.frombuffer(state[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
        check(arrays[name].dtype == array.dtype and arrays[name].shape == array.shape and arrays[name].tobytes() == array.tobytes(), f"npz: {name}")
    # What numpy writes is read, compressed or not, and starts a run that begins with it.
    run("export", "npz", "e", "-o", "p.npz")
    run("export", "npz", "e", "-o", "q.npz")
    check((folder / "p.npz").read_bytes() == (folder / "q.npz").read_bytes(), "one state has two npz files")
    parameters = dict(numpy.load(folder / "p.npz"))
    for save, file in ((numpy.savez, "plain.npz"), (numpy.savez_compressed, "packed.npz")):
        save(folder / file, **{"their." + name: array for name, array in parameters.items()})
        maps = [word for name in parameters for word in ("--map", f"their.{name}={name}")]
        ran = run("train", "moons", "--epochs", "1", "--no-plots", "--from", file, *maps, "--run", file + ".run")
        check(ran.returncode == 0, f"--from {file}: {ran.stderr!r}")
        start = folder / (file + ".run") / "checkpoints"
        text = next(start.glob("step-0-*/state.safetensors")).read_bytes()
        size = int.from_bytes(text[:8], "little")
        for name, entry in json.loads(text[8:8 + size]).items():
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            if name in parameters:
                check(text[begin:end] == parameters[name].tobytes(), f"--from {file}: {name} does not start with what is in the file")
    refused(run("train", "moons", "--from", "plain.npz", "--no-plots"), 2, ["plain.npz", "unknown parameter 'their."])
    numpy.savez(folder / "objects.npz", w1=numpy.array([{}], dtype=object))
    refused(run("train", "moons", "--from", "objects.npz", "--no-plots"), 2, ["objects.npz", "w1", "|O"])


def interrupted():
    process = subprocess.Popen([etalon, "train", "digits", "--epochs", "100000", "--interval", "1000000", "--no-plots", "--run", "i"], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (folder / "i" / "run.json").exists() and time.monotonic() < end:
        time.sleep(0.01)
    refused(run("resume", "i"), 2, ["i", "another process"])
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    step = int(newest("i", 1)[0].name.split("-")[1])
    check(process.returncode == 130 and said.count("\n") == 1 and "etalon resume i" in said, f"interrupted: {process.returncode}, {said!r}")
    check(0 < step < 1000000, f"interrupted within an interval: the newest checkpoint is of step {step}")


def devices():
    """What one device began another ends, to the same bits."""
    few = ["moons", "--epochs", "3", "--no-plots"]
    run("train", *few, "--run", "here")
    run("train", *few, "--run", "there")
    for path in newest("there", 7):  # all but the start: the journal says what the other device must come to
        if not path.name.startswith("step-0-"):
            shutil.rmtree(path)
    ran = run("resume", "there", "--no-plots", "--backend", "cuda-emulated", "--threads", "2")
    check(ran.returncode == 0 and "contract" in ran.stdout and left("there") == left("here"), f"another device: {ran}")


def refusals():
    run("train", *task, "--run", "f")
    refused(run("train", *task, "--run", "f"), 2, ["f", "etalon resume f"])
    refused(run("resume", "nowhere"), 2, ["nowhere/run.json", "No such file"])
    refused(run("train", *task, "--run", "/proc/none"), 2, ["/proc/none", "No such file"])
    refused(run("train", *task, "--interval", "3"), 2, ["--run"])
    check("Traceback" not in run("export", "npz", "f", "-o", "no/where.npz").stderr, "export")
    refused(run("export", "npz", "f", "-o", "no/where.npz"), 2, ["no/where.npz", "No such file"])
    refused(run("export", "npy", "f", "-o", "where.npy"), 2, ["npy"])
    # A machine that computed something else before.
    for path in newest("f", 2):
        shutil.rmtree(path)
    journal = folder / "f" / "journal.jsonl"
    lines = journal.read_text().splitlines()
    line = json.loads(lines[-2])
    wrong = dict(line, state="0" * 64)
    journal.write_text("\n".join([*lines[:-2], json.dumps(wrong, separators=(",", ":")), lines[-1], ""]))
    refused(run("resume", "f", "--no-plots"), 3, [f"interval {line['interval']}", str(line["step"]), "0" * 64, line["state"]])
    journal.write_text("\n".join([*lines, ""]))
    # A checkpoint that was changed: the one before, said aloud.
    state = newest("f", 1)[0] / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-1] + b"\x01")
    ran = run("resume", "f", "--no-plots")
    check(ran.returncode == 0 and str(state.relative_to(folder)) in ran.stdout and "going on from step" in ran.stdout, f"resume: {ran}")
    check(journal.read_text().splitlines() == lines, "the journal is another after a recomputed interval")
    # Another file of data than the run's.
    shutil.copytree(folder / "f", folder / "g")
    declared = json.loads((folder / "g" / "run.json").read_text())
    (folder / "g" / "run.json").write_text(json.dumps(dict(declared, data="0" * 64), indent=2) + "\n")
    refused(run("resume", "g", "--no-plots"), 2, ["g/run.json", "data", "0" * 64, declared["data"]])
    # run.json of a stranger: what would write over the terminal, and counts whose product is 0 in 64 bits.
    hostile = "a\n\x1b[2Jb\r"
    for field in ("task", "model", "order", "build", "contract"):
        (folder / "g" / "run.json").write_text(json.dumps(dict(declared, **{field: hostile}), indent=2) + "\n")
        ran = run("resume", "g", "--no-plots")
        refused(ran, 2, ["" if field in ("build", "contract") else "a  [2Jb"])
        said = ran.stdout + ran.stderr.removesuffix("\n")
        check("\x1b" not in said and "\r" not in said, f"{field}: {said!r}")
        check(("a  [2Jb" in ran.stdout) == (field in ("build", "contract")), f"{field}: {ran.stdout!r}")
    for change in ({"kept": 2**62, "interval": 4}, {"kept": 2**52, "interval": 4}, {"interval": 2**62}, {"rows": 2**63 - 1}):
        (folder / "g" / "run.json").write_text(json.dumps(dict(declared, **change), indent=2) + "\n")
        refused(run("resume", "g", "--no-plots"), 2, ["g/run.json: ", "expected"])


def without_room():
    """No file may grow: every save fails from now on."""
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    run("train", *task, "--run", "s")
    for path in newest("s", 3):
        shutil.rmtree(path)
    before = left("s")
    ran = run("resume", "s", "--no-plots", preexec_fn=small)
    refused(ran, 4, ["is not saved", "File too large"])
    check(ran.stdout.count("training goes on") == 2, f"without room: {ran.stdout!r}")
    check(left("s") == before, "without room: what was there is not there any more")


def full_disk():
    """A file system of one mebibyte, where one may be mounted: the run ends when it is full, and goes on elsewhere."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True).returncode != 0:
        print("full disk: nothing can be mounted here")
        return
    try:
        ran = run("train", "digits", "--epochs", "3", "--no-plots", "--run", "disk/r")
        refused(ran, 4, ["is not saved", "No space left on device"])
        check(ran.stdout.count("training goes on") == 2, f"full disk: {ran.stdout!r}")
        refused(run("resume", "disk/r", "--no-plots"), 4, ["is not saved", "No space left on device"])
        shutil.copytree(disk / "r", folder / "roomy")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    check(run("resume", "roomy", "--no-plots").returncode == 0, "full disk: what was saved does not go on elsewhere")
    run("train", "digits", "--epochs", "3", "--no-plots", "--run", "ample")
    check(left("roomy") == left("ample"), "full disk: other bits than with room")


if sys.argv[2:] == ["exports"]:
    try:
        import numpy
    except ImportError:
        sys.exit(77)
    exports()
else:
    interrupted()
    devices()
    refusals()
    without_room()
    full_disk()
    killed(int(sys.argv[2]) if len(sys.argv) > 2 else 6)
sys.exit(check.status(1))
