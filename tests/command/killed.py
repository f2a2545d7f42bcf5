"""When etalon is killed, or ends, no process of its backends is left, those that hang among them. Usage: killed.py ETALON"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from checks import Checks

etalon = sys.argv[1]
SOON = 20  # seconds; machines may be busy
check = Checks()


def processes():
    """Group by process; what has ended and was not waited for is none."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, group = status.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it ended meanwhile
            continue
        if state not in "ZX":
            found[int(status.parent.name)] = int(group)
    return found


def within(seconds, holds):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def groups_in(file):
    """What the backends wrote down of themselves."""
    return {int(word) for word in file.read_text().split()} if file.exists() else set()


def members(groups):
    return sorted(pid for pid, group in processes().items() if group in groups)


def none_left(name, groups, seconds):
    within(seconds, lambda: not members(groups))
    left = members(groups)
    check(not left, f"{name}: {left} are left")
    for pid in left:
        os.kill(pid, signal.SIGKILL)


def started(folder, ending, *words):
    """A run whose backend has a process in the background, and is deaf to polite signals and to the end of its input."""
    file = pathlib.Path(folder) / "groups"
    command = f"trap '' HUP INT TERM; sleep 3600 & cut -d ' ' -f 5 /proc/$$/stat >> '{file}'; {ending}"
    words = [etalon, "conform", "--backend", f"exec:{command}", "--memory", "0", *words]
    return file, subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


HANGS = "sleep 3600"
ANSWERS = f"'{etalon}' serve --backend reference; sleep 3600"


def killed(number, ending, *words):
    name = f"{signal.Signals(number).name}, {ending}"
    with tempfile.TemporaryDirectory() as folder:
        file, run = started(folder, ending, *words)
        check(within(SOON, lambda: groups_in(file)), f"{name}: no backend was started")
        groups = groups_in(file)
        check(len(members(groups)) >= 3, f"{name}: expected who waits for our end, a shell and a sleep, found {members(groups)}")
        check(processes()[run.pid] not in groups, f"{name}: the backend is in the group of etalon")
        run.send_signal(number)
        run.communicate(timeout=SOON)  # until nobody holds its output
        check(run.returncode == -number, f"{name}: etalon ended with {run.returncode}")
        none_left(name, groups_in(file), SOON)


def ended():
    with tempfile.TemporaryDirectory() as folder:
        file, run = started(folder, ANSWERS, "--ops", "relu", "--modes", "forward", "--dtypes", "f32", "--jobs", "2")
        said, _ = run.communicate(timeout=300)
        check(run.returncode == 0 and groups_in(file), f"a run to its end: exit {run.returncode}: {said[-300:]}")
        none_left("a run to its end", groups_in(file), 0)


for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
    killed(number, HANGS)
killed(signal.SIGKILL, ANSWERS, "--tier", "full", "--jobs", "2")
ended()
sys.exit(check.status(20))
