"""Runs commands that may take no longer than they are given: what is left of one ends with it, its children too."""
import dataclasses
import os
import signal
import subprocess
import time


@dataclasses.dataclass(frozen=True)
class Done:
    """How a command ended. `status` is None where its time was over."""

    status: int | None
    out: str
    err: str
    seconds: float

    @property
    def ok(self):
        return self.status == 0

    @property
    def why(self):
        """One line that says how it failed."""
        if self.status is None:
            return f"not done after {self.seconds:.0f} s"
        lines = (self.err.strip() or self.out.strip()).splitlines()
        # Compilers say first what was wrong, commands last.
        said = next((line for line in lines if "error" in line), lines[-1] if lines else "it said nothing")
        return f"exit status {self.status}: {said[:300]}"


def run(words, seconds, environment=None):
    """Never raises for what the command does; one that cannot be started has status 127."""
    start = time.monotonic()
    given = {**os.environ, **(environment or {})}
    try:
        process = subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                   start_new_session=True, env=given)
    except OSError as problem:
        return Done(127, "", str(problem), time.monotonic() - start)
    try:
        out, err = process.communicate(timeout=max(seconds, 0.01))
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        status = None
    return Done(status, out, err, time.monotonic() - start)


class Deadline:
    """A moment that all commands of a stage share."""

    def __init__(self, seconds):
        self._end = time.monotonic() + seconds

    def left(self, at_most=float("inf")):
        return max(0.0, min(at_most, self._end - time.monotonic()))

    def run(self, words, at_most=float("inf"), environment=None):
        if self.left() == 0:
            return Done(None, "", "", 0.0)
        return run(words, self.left(at_most), environment)
