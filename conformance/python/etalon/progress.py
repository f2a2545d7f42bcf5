"""How far a run is while it runs: one line that is written over, on a terminal or in a notebook."""
import sys
import time

from etalon.answering import BAD

BETWEEN = 0.2  # seconds between two lines, which people can read


def notebook():
    """The function `display` where this runs in a notebook, which has loaded IPython, else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import display, get_ipython
    shell = get_ipython()
    return display.display if shell is not None and hasattr(shell, "kernel") else None


class Progress:
    """What is called with each record, counts, and hands it on. Where standard error is no terminal and nothing is a notebook it shows
    nothing."""

    def __init__(self, on_record=None):
        self._on_record, self._display, self._handle = on_record, notebook(), None
        self._is_terminal = self._display is None and sys.stderr is not None and sys.stderr.isatty()
        self._cases, self._bad, self._next = 0, 0, 0.0

    def __call__(self, record):
        self._cases += 1
        self._bad += record.verdict in BAD
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + BETWEEN
            self._show(f"{record.operation}: {self._counts()}")
        if self._on_record is not None:
            self._on_record(record)

    def end(self):
        """A terminal's line is taken away; a notebook's has the counts."""
        if self._handle is not None:
            self._show(self._counts())
        elif self._is_terminal and self._cases:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _counts(self):
        return f"{self._cases} cases, {self._bad} fail"

    def _show(self, text):
        if self._is_terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif self._handle is not None:
            self._handle.update({"text/plain": text}, raw=True)
        elif self._display is not None:
            self._handle = self._display({"text/plain": text}, raw=True, display_id=True)
