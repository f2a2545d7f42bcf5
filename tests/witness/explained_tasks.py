"""PyTorch trains the tasks that ship, by the programs that `etalon train` declares, and writes down what each step computed: audits
pass what is honest, and convict what is not. Usage: explained_tasks.py ETALON [--stride N] [--intervals N] [--write FOLDER]

Rows, their order and what models draw are computed here once more; of the run's folder only run.json and its first state are taken."""
import argparse
import csv
import gzip
import hashlib
import json
import math
import pathlib
import shutil
import struct
import sys

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-torch")
    sys.exit(77)

from torch_step import OPERATIONS, Step, permutation, philox
from trace_run import Auditor, digest, journal, safetensors, tensors_in

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "training/data/digits.csv.gz"
SPLIT = 7, 1  # seed and stream of the split of the digits
INTERVAL = 10
NONCE = "0" * 63 + "1"


def digits(declared, epoch):
    """The rows of an epoch in its order."""
    lines = numpy.array(list(csv.reader(gzip.open(DIGITS, "rt"))), numpy.int64)
    lines = lines[permutation(len(lines), SPLIT[0], 0, SPLIT[1])][:1280]
    lines = lines[permutation(len(lines), declared["seed"], epoch)]
    return (lines[:, :64] / 16).astype(numpy.float32), lines[:, 64]


def moons(declared, _):
    draws = 0.1 * (2 * ((philox(declared["seed"], 0, 4, 1600) // 256).numpy() / 16777216) - 1)
    v = numpy.arange(400) * math.pi / 400
    points = numpy.stack([numpy.stack([numpy.cos(v), numpy.sin(v)], 1), numpy.stack([1 - numpy.cos(v), 0.5 - numpy.sin(v)], 1)])
    points += draws.reshape(2, 400, 2)
    return points.transpose(1, 0, 2).reshape(800, 2).astype(numpy.float32), numpy.tile(numpy.array([[1], [-1]], numpy.float32), (400, 1))


ROWS = {"digits": digits, "moons": moons}


class Fault:
    """What a trainer does wrong from a step on, or in it alone; `values` are changed after PyTorch has computed them."""

    def __init__(self, kind, step):
        self.kind, self.step, self.now = kind, step, 0

    def __call__(self, operation, operands, attributes, found):
        if operation not in ("adamw", "sgd"):
            return found
        p, lr = operands[0], float(attributes["lr"])
        if self.kind == "epsilon" and operation == "adamw":
            return OPERATIONS[operation](*operands, **attributes | {"eps": 1e-6})
        if self.kind == "correction":
            return (p * (1 - lr * attributes["weight_decay"]) - lr * found[1] / (found[2].sqrt() + attributes["eps"]), *found[1:])
        if self.kind == "skipped" and self.now == self.step:
            return (p.clone(), *found[1:])
        if self.kind == "bit" and self.now == self.step and p.ndim > 1:
            found[0].view(-1).numpy().view(numpy.uint32)[3] ^= 1 << 14
        return found


class Run:
    """A run of a task, declared by `etalon train` and trained by PyTorch."""

    def __init__(self, auditor, task, model, epochs, batch, grain, seed=3):
        self.folder = auditor.scratch / f"{task}-{model}-{batch}-{grain}"
        declared = self.folder / "declared"
        made = auditor.etalon("train", task, "--model", model, "--epochs", epochs, "--batch", batch, "--grain", grain, "--interval", INTERVAL,
                              "--seed", seed, "--run", declared, "--no-plots")
        auditor.check(made.returncode == 0, f"{task}: {made.stderr}")
        self.declared = json.loads((declared / "run.json").read_text())
        self.start = next(declared.glob("checkpoints/step-0-*")) / "state.safetensors"
        self.leaves = batch // grain
        self.steps = [Step(text) for text in self.declared["program"].split("\n\n")]
        self.epochs = [[self.laid(rows) for rows in ROWS[task](self.declared, epoch + 1)] for epoch in range(epochs)]

    def laid(self, rows):
        per_epoch = self.declared["steps"] // self.declared["epochs"]
        return rows[:per_epoch * self.declared["batch"]].reshape(-1, self.declared["grain"], *rows.shape[1:])

    def step(self, n, state, write, fault):
        """What the step n, from 0, computes; of several leaves what the update does, and each leaf is written first."""
        epoch = n * len(self.epochs) // self.declared["steps"]
        data = dict(zip(("train_inputs", "train_targets"), self.epochs[epoch]))
        if self.leaves == 1:
            return self.steps[0].run(n, state | data, fault)
        program, sums = self.steps[0], []
        for leaf in range(self.leaves):
            seen = program.run(n * self.leaves + leaf, {k: v.copy() for k, v in state.items() if k in program.given} | data)
            sums.append([seen[name] for name in program.outputs])
            write(f"step-{n + 1}-leaf-{leaf}", seen)
        names = ["loss_sum"] + [name.removesuffix(".grad") + ".gradient_sum" for name in program.outputs[1:]]
        given = {name: numpy.asarray(sum(terms), numpy.float32) for name, terms in zip(names, zip(*sums))}
        if fault and fault.kind == "sum" and fault.now == fault.step:
            given[names[1]].reshape(-1).view(numpy.uint32)[5] ^= 1 << 14
        return self.steps[1].run(n, state | given, fault) | given

    def interval(self, number, state, trace, fault=None):
        """Trains an interval, from 1, from the state before it, and writes it down. Its line of the journal, and the state after it."""
        write = lambda file, tensors: (trace / f"{file}.safetensors").write_bytes(safetensors(tensors))
        first, losses = INTERVAL * (number - 1), []
        last = min(first + INTERVAL, self.declared["steps"])
        write(f"state-{first}", state)
        for n in range(first, last):
            if fault:
                fault.now = n + 1
            seen = self.step(n, {k: v.copy() for k, v in state.items()}, write, fault)
            write(f"step-{n + 1}", seen)
            state = state | {name: seen[value] for name, value in self.steps[-1].updates.items()}
            losses.append(struct.pack("<d", float(seen["loss"])))
        return {"interval": number, "step": last, "state": digest(safetensors(state)), "losses": digest(b"".join(losses))}, state

    def folders(self, name):
        run, trace = self.folder / name / "r", self.folder / name / "trace"
        run.mkdir(parents=True)
        trace.mkdir()
        declared = self.declared | {"contract": "PyTorch on a CPU", "build": f"PyTorch {torch.__version__}"}
        (run / "run.json").write_text(json.dumps(declared, indent=2) + "\n")
        return run, trace

    def honest(self):
        """The folders of the run and its trace."""
        run, trace = self.folders("honest")
        state, self.lines, self.before = tensors_in(self.start.read_bytes()), [], {}
        for number in range(1, math.ceil(self.declared["steps"] / INTERVAL) + 1):
            self.before[number] = state
            line, state = self.interval(number, state, trace)
            self.lines.append(line)
        (run / "journal.jsonl").write_text(journal(self.lines))
        return run, trace

    def wrong(self, number, fault):
        """The same with a fault in one interval, which alone has a trace."""
        run, trace = self.folders(f"{fault.kind}-{number}")
        line, _ = self.interval(number, self.before[number], trace, fault)
        (run / "journal.jsonl").write_text(journal([line if other["interval"] == number else other for other in self.lines]))
        return run, trace


def drawn_of(intervals):
    """Which one interval the nonce draws."""
    return int.from_bytes(hashlib.sha256(bytes.fromhex(NONCE) + b" 0").digest()[:8], "big") % intervals + 1


def convict(auditor, of, number, kind, step, named):
    """A fault is found in that interval at that step, and no honest interval beside it."""
    fault = Fault(kind, step)
    run, trace = of.wrong(number, fault)
    ran, wrong, _ = auditor.audit(run, trace, "--intervals", 1, "--nonce", NONCE)
    said = wrong.get(number, "")
    auditor.check(ran.returncode == 1 and set(wrong) == {number}, f"{named}, {kind}: {ran.returncode} {wrong} {ran.stderr}")
    auditor.check(said.startswith((f"step {step}: ", f"step {step}, ")) and "admitted [" in said, f"{named}, {kind}: {said!r}")
    print(f"  {kind}: {said[:150]}")


words = argparse.ArgumentParser()
words.add_argument("etalon")
words.add_argument("--stride", type=int, default=1)
words.add_argument("--intervals", type=int, default=0, help="of 10 steps that are audited of each honest run, in place of 5, 2, 2 and 1")
words.add_argument("--write", type=pathlib.Path, help="write a run of moons, and its trace, into this folder, and audit nothing")
given = words.parse_args()
torch.set_num_threads(1)
auditor = Auditor(given.etalon)
scratch, check = auditor.scratch, auditor.check
if given.write:
    for made in Run(auditor, "moons", "mlp", 1, 16, 16).honest():
        shutil.copytree(made, given.write / made.name)
    sys.exit(auditor.check.status(1))
ADAM = ("epsilon", "correction", "skipped", "bit")
CASES = (("digits", "cnn", 1, 8, 8, 5, ADAM), ("digits", "mlp", 2, 32, 32, 2, ADAM), ("moons", "mlp", 1, 16, 16, 2, ("skipped", "bit")),
         ("digits", "mlp", 1, 16, 8, 1, ("sum", "skipped")))
for task, model, epochs, batch, grain, intervals, faults in CASES:
    intervals = given.intervals or (intervals if given.stride == 1 else 1)
    declared = Run(auditor, task, model, epochs, batch, grain)
    named = f"{task}, {model}, leaves of {grain}"
    run, trace = declared.honest()
    ran, wrong, (elements, undecided) = auditor.audit(run, trace, "--intervals", intervals, "--nonce", NONCE)
    check(ran.returncode == 0 and not wrong and ran.stdout.endswith("holds\n"), f"{named}, honest: {ran.stdout}{ran.stderr}")
    parameters = sum(value.size for value in tensors_in(declared.start.read_bytes()).values())
    check(elements >= 2 * intervals * INTERVAL * parameters and undecided == 0, f"{named}, honest: {elements} elements, {undecided} undecided")
    print(f"{named}: {intervals * INTERVAL} honest steps, {elements} elements held to their bounds, {undecided} undecided")
    number = drawn_of(len(declared.lines))
    for kind in faults:
        convict(auditor, declared, number, kind, INTERVAL * (number - 1) + (1 if kind in ("epsilon", "correction") else 2), named)
    shutil.rmtree(declared.folder)
sys.exit(auditor.check.status(50))
