"""The checks of a test that is a script: each is counted, and what does not hold is kept until the end."""


class Checks:
    def __init__(self):
        self.count, self.faults = 0, []

    def __call__(self, holds, what):
        self.count += 1
        if not holds:
            self.faults.append(str(what))

    def refused(self, ran, status, words):
        """That a process ended with this status and one line on standard error with these words."""
        line = ran.stderr.removesuffix("\n")
        self(ran.returncode == status and line and "\n" not in line and all(word in line for word in words),
             f"{' '.join(map(str, ran.args[1:]))}: expected {status} and {words}, found {ran.returncode} and {ran.stderr!r}")

    def status(self, least, *also):
        """Prints faults and counts; the status to end with is 0 where all holds and so many checks at least were made."""
        print("\n".join(self.faults[:50]))
        print(", ".join([f"{self.count} checks", *also, f"{len(self.faults)} faults"]))
        return 1 if self.faults or self.count < least else 0
