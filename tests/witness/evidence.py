"""What a witness said, counted by operation and mode, and the verdict on the whole run."""
import collections

VERDICTS = ("pass", "undecided", "convention", "algorithm", "defect", "skipped", "refused", "fail")


def shortened(text, width=260):
    return "\n".join(line if len(line) <= width else line[:width] + "…" for line in text.splitlines())


class Evidence:
    def __init__(self, witness, modes):
        self.witness, self.modes = witness, modes
        self.counts = collections.defaultdict(collections.Counter)
        self.compared = 0
        self.elements_undecided = 0
        self.faults, self.skips, self.pending = [], collections.Counter(), []
        self.shown = collections.Counter()
        self.without = {}

    def add(self, operation, mode, outcome, name, details):
        verdict = outcome["verdict"]
        if verdict == "unsupported":
            verdict = "refused"
        elif verdict == "crashed":
            verdict = "fail"
        self.counts[operation][verdict] += 1
        self.counts[operation][mode] += verdict not in ("refused",)
        self.compared += outcome["comparisons"] - outcome["undecided"]
        self.elements_undecided += outcome["undecided"]
        if verdict in ("fail", "refused"):
            self.shown[operation, verdict] += 1
            if self.shown[operation, verdict] <= 2:
                offender = outcome.get("offender", "")
                self.faults.append(f"{name}: {verdict}: {outcome.get('why', '')} {offender}\n{shortened(details())}")

    def skip(self, operation, mode, reason):
        self.counts[operation]["skipped"] += 1
        self.skips[f"{operation}.{mode}: {reason}"] += 1

    def absent(self, operation):
        if operation not in self.pending:
            self.pending.append(operation)

    def unwitnessed(self, operations, reasons):
        """Operations of the library without a row: those with a reason, and those that nobody has thought about."""
        self.without = collections.defaultdict(list)
        for operation in sorted(operations):
            self.without[reasons.get(operation, "no row yet")].append(operation)

    def broken(self, operation, why):
        self.counts[operation]["fail"] += 1
        self.shown[operation, "broken"] += 1
        if self.shown[operation, "broken"] <= 2:
            self.faults.append(f"{operation}: the row cannot be run: {why}")

    def report(self, more_faults=()):
        """Prints the counts; the status of the run."""
        columns = [*self.modes, *VERDICTS]
        print(f"{self.witness:28}" + "".join(f"{c:>11}" for c in columns))
        total = collections.Counter()
        for operation in sorted(self.counts):
            print(f"{operation:28}" + "".join(f"{self.counts[operation][c] or '.':>11}" for c in columns))
            total.update(self.counts[operation])
        print(f"{len(self.counts):<4} {'operations':23}" + "".join(f"{total[c] or '.':>11}" for c in columns))
        for reason, count in sorted(self.skips.items()):
            print(f"skipped {count:4} × {reason}")
        for reason, operations in sorted(self.without.items()):
            print(f"without a witness, {reason}: {' '.join(operations)}")
        if self.pending:
            more_faults = [*more_faults, f"rows for what is not in the library: {' '.join(self.pending)}"]
        faults = [*self.faults, *more_faults]
        for fault in faults:
            print(fault)
        bad = total["fail"] + total["refused"] + len(more_faults)
        print(f"{self.compared} numbers compared, {self.elements_undecided} undecided, {bad} faults")
        return 1 if bad or self.compared == 0 else 0
