"""PyTorch trains a small MLP and writes down what each step computed; an audit that computes nothing again passes what is
honest, and convicts what is not. Usage: explained.py ETALON [--stride N]

The trainer is torch.nn and torch.optim.AdamW; the run's step is the program below, and what PyTorch computed is held to it."""
import argparse
import json
import math
import struct
import sys

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-torch")
    sys.exit(77)

from trace_run import CONTRACT, Auditor, array, digest, journal, safetensors

PARAMETERS = {"w1": (8, 4), "b1": (8,), "w2": (3, 8), "b2": (3,)}
BATCHES, ROWS, EPOCHS, INTERVAL = 5, 12, 10, 10
STEPS = BATCHES * EPOCHS
RATE, EPSILON, DECAY = 0.01, 1e-8, 0.02


def program():
    names = list(PARAMETERS)
    shape = {n: ", ".join(map(str, s)) for n, s in PARAMETERS.items()}
    lines = [f"input train_inputs : f32[{BATCHES}, {ROWS}, 4]", f"input train_targets : i64[{BATCHES}, {ROWS}]",
             f"index epoch_n : i64[] in 0..{EPOCHS - 1}", f"index batch_n : i64[] in 0..{BATCHES - 1}"]
    lines += [f"parameter {n}{kept} : f32[{shape[n]}]" for kept in ("", ".m", ".v") for n in names]
    lines += ["parameter step_count : i64[]", "constant one : i64[] = 1", "x = gather(train_inputs, batch_n) {axis = 0}",
              "target = gather(train_targets, batch_n) {axis = 0}", "h = linear(x, w1, b1)", "a = relu(h)", "logits = linear(a, w2, b2)",
              "loss = cross_entropy(logits, target, _) {axis = 1}", f"{', '.join(n + '.grad' for n in names)} = vjp(loss; {', '.join(names)})",
              "count = add(step_count, one)"]
    lines += [f"{n}.new, {n}.m.new, {n}.v.new = adamw({n}, {n}.grad, {n}.m, {n}.v, count) "
              f"{{lr = {RATE}, eps = {EPSILON}, weight_decay = {DECAY}}}" for n in names]
    lines += ["output loss"] + [f"update {n}{kept} := {n}{kept}.new" for kept in ("", ".m", ".v") for n in names] + ["update step_count := count"]
    return "\n".join(lines) + "\n"


class Trainer:
    """An MLP with AdamW, and what it may do wrong."""

    def __init__(self, fault):
        torch.manual_seed(7)
        self.fault, self.steps = fault, 0
        first, second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)
        self.layers = first, second
        self.parameters = {"w1": first.weight, "b1": first.bias, "w2": second.weight, "b2": second.bias}
        self.optimizer = torch.optim.AdamW(list(self.parameters.values()), RATE, eps=1e-6 if fault == "epsilon" else EPSILON, weight_decay=DECAY)

    def state(self):
        state = {"step_count": numpy.array(self.steps, numpy.int64)}
        for name, parameter in self.parameters.items():
            kept = self.optimizer.state.get(parameter) or {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
            state |= {name: array(parameter), f"{name}.m": array(kept["exp_avg"]), f"{name}.v": array(kept["exp_avg_sq"])}
        return state

    def step(self, x, target):
        """Trains on these rows. Gives every value that the program names."""
        h = self.layers[0](x)
        a = torch.relu(h)
        logits = self.layers[1](a)
        loss = torch.nn.functional.cross_entropy(logits, target)
        self.optimizer.zero_grad()
        loss.backward()
        seen = {"x": x, "target": target, "h": h, "a": a, "logits": logits, "loss": loss}
        seen |= {f"{name}.grad": parameter.grad for name, parameter in self.parameters.items()}
        seen = {name: array(value) for name, value in seen.items()}
        before = {name: parameter.detach().clone() for name, parameter in self.parameters.items()}
        self.optimizer.step()
        self.steps += 1
        self.spoil(before)
        state = self.state()
        seen |= {f"{name}.new": value for name, value in state.items() if name != "step_count"}
        return seen | {"count": state["step_count"]}

    def spoil(self, before):
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                kept = self.optimizer.state[parameter]
                if self.fault == "skipped" and self.steps == 37:
                    parameter.copy_(before[name])
                if self.fault == "correction":
                    parameter.copy_(before[name] * (1 - RATE * DECAY) - RATE * kept["exp_avg"] / (kept["exp_avg_sq"].sqrt() + EPSILON))
                if self.fault == "bit" and self.steps == 37 and name == "w2":
                    bits = parameter.numpy().view(numpy.uint32)
                    bits[1, 2] ^= 1 << 12


def write_run(folder, fault, tampered=None):
    """A run and its trace. `tampered` may change what is written of a step, after it was trained."""
    run, trace = folder / "r", folder / "trace"
    run.mkdir(parents=True)
    trace.mkdir()
    drawn = numpy.random.default_rng(3)
    inputs = drawn.standard_normal((BATCHES, ROWS, 4)).astype(numpy.float32)
    targets = drawn.integers(0, 3, (BATCHES, ROWS))
    data = safetensors({"train_inputs": inputs, "train_targets": targets})
    (trace / "data.safetensors").write_bytes(data)
    trainer = Trainer(fault)
    states, losses, lines = [safetensors(trainer.state())], [], []
    for n in range(1, STEPS + 1):
        if (n - 1) % INTERVAL == 0:
            (trace / f"state-{n - 1}.safetensors").write_bytes(states[-1])
        rows = (n - 1) % BATCHES
        seen = trainer.step(torch.from_numpy(inputs[rows]), torch.from_numpy(targets[rows]))
        losses.append(struct.pack("<d", float(seen["loss"])))
        states.append(safetensors(trainer.state()))
        if tampered:
            tampered(n, seen)
        (trace / f"step-{n}.safetensors").write_bytes(safetensors(seen))
        if n % INTERVAL == 0:
            lines.append({"interval": len(lines) + 1, "step": n, "state": digest(states[-1]), "losses": digest(b"".join(losses[-INTERVAL:]))})
    declaration = {"format": "etalon run 1", "task": "mlp", "model": "4-8-3", "seed": 7, "rows": BATCHES * ROWS, "batch": ROWS, "grain": ROWS,
                   "dropped": 0, "epochs": EPOCHS, "steps": STEPS, "interval": INTERVAL, "kept": 1, "data": digest(data),
                   "start": digest(states[0]), "order": "of PyTorch", "contract": "PyTorch on a CPU", "build": f"PyTorch {torch.__version__}",
                   "program": program()}
    (run / "run.json").write_text(json.dumps(declaration, indent=2) + "\n")
    (run / "journal.jsonl").write_text(journal(lines))
    return run, trace


words = argparse.ArgumentParser()
words.add_argument("etalon")
words.add_argument("--stride", type=int, default=1)
given = words.parse_args()
auditor = Auditor(given.etalon)
scratch, check, etalon, audit = auditor.scratch, auditor.check, auditor.etalon, auditor.audit
asked = ["--all"] if given.stride == 1 else ["--intervals", "1"]

# Honest steps pass, all of them.
run, trace = write_run(scratch / "honest", None)
ran, wrong, (elements, undecided) = audit(run, trace, *asked)
check(ran.returncode == 0 and not wrong and ran.stdout.endswith("holds\n"), f"honest: {ran.stdout}{ran.stderr}")
print(f"honest: {elements} elements held to their bounds, {undecided} undecided")
named = sum(math.prod(s) for s in PARAMETERS.values()) * 4 + ROWS * (4 + 1 + 8 + 8 + 3) + 2
check(elements >= (STEPS if given.stride == 1 else INTERVAL) * named and undecided == 0, f"honest: {elements} elements, {undecided} undecided")

# What is not the step is convicted, at its first step and its assignment.
for fault, intervals, step, assignment in (("epsilon", {1, 2, 3, 4, 5}, None, " = adamw("), ("correction", {1, 2, 3, 4, 5}, None, " = adamw("),
                                           ("skipped", {4}, 37, " = adamw("), ("bit", {4}, 37, "w2.new[1, 2]")):
    run, trace = write_run(scratch / fault, fault)
    ran, wrong, _ = audit(run, trace, "--all")
    said = wrong.get(min(intervals), "")
    check(ran.returncode == 1 and set(wrong) == intervals, f"{fault}: {ran.returncode} {wrong} {ran.stderr}")
    check(assignment in said and "admitted [" in said and said.startswith(f"step {step or 1}: "), f"{fault}: {said!r}")
    print(f"{fault}: {said[:150]}")

# A trace whose values explain another state than the one committed to, by one bit.
def nudge(n, seen):
    if n == 20:
        seen["b1.new"].view(numpy.uint32)[3] ^= 1


run, trace = write_run(scratch / "nudged", None, nudge)
ran, wrong, _ = audit(run, trace, "--all")
check(ran.returncode == 1 and set(wrong) == {2} and wrong[2].startswith("the state after step 20 is "), f"nudged: {wrong}")

# Two traces of one run: the first step and assignment in which they differ, and who is wrong there.
def disputed(a, b, *say):
    ran = etalon("dispute", scratch / a / "r", scratch / b / "r", "--explained", scratch / a / "trace", "--explained", scratch / b / "trace",
                 "--contract", CONTRACT)
    check(ran.returncode == (1 if say else 0) and all(w in ran.stdout for w in say), f"dispute of {a} and {b}: {ran.returncode} {ran.stdout} {ran.stderr!r}")


write_run(scratch / "second", None)
disputed("honest", "second")
for fault, step, element in (("epsilon", 1, "w1.new[0, 0]"), ("skipped", 37, "w1.new[0, 0]"), ("bit", 37, "w2.new[1, 2]")):
    disputed("honest", fault, f"step {step} is the first", f"{element} is ", f"{scratch}/honest/r (trace, contract", ": 0 of ",
             "first different bits: ")
one_sided = etalon("dispute", scratch / "honest" / "r", scratch / "bit" / "r", "--explained", scratch / "bit" / "trace")
check(one_sided.returncode == 2 and "expected once for each folder" in one_sided.stderr, f"one trace of two: {one_sided.stderr!r}")

# A journal is of other values than its trace: its side is the wrong one, whichever folder comes first.
def with_lines(run, change):
    """The run with another journal."""
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    (run / "journal.jsonl").write_text(journal(change(lines)))


for field in ("state", "losses"):
    run, _ = write_run(scratch / f"forged {field}", None)
    with_lines(run, lambda lines: lines[:1] + [lines[1] | {field: digest(b"forged")}] + lines[2:])
    say = f"{run}: its trace does not come to its journal: the "
    disputed("honest", f"forged {field}", "interval 2, to step 20, ", say, f"committed is {digest(b'forged')}\n")
    disputed(f"forged {field}", "honest", "interval 2, to step 20, ", say, f"committed is {digest(b'forged')}\n")
    check(etalon("dispute", run, scratch / "honest" / "r", "--explained", scratch / f"forged {field}" / "trace", "--explained",
                 scratch / "honest" / "trace", "--contract", CONTRACT).stdout.count("does not come to its journal") == 1, "the honest side")

# Intervals of no steps would thin out the draw: none of them holds.
run, trace = write_run(scratch / "empty", None)
with_lines(run, lambda lines: lines[:1] + [lines[0] | {"interval": n, "losses": digest(b"")} for n in range(2, 40)] + [lines[4] | {"interval": 40}])
etalon("certify", run, "--explained", "--key", "k.pem", "-o", run / "c.json")
ran = etalon("audit", run / "c.json", "--key", "k.pub", "--run", run, "--explained", trace, "--contract", CONTRACT, "--all", "--json", run / "a.json")
found = json.loads((run / "a.json").read_text()) if (run / "a.json").exists() else {"holds": False, "intervals": []}
check(ran.returncode != 0 and not found["holds"], f"empty intervals: {ran.returncode} {ran.stderr!r}")
check(not [i for i in found["intervals"] if i["step"] == i["from"] and i["same"]], f"empty intervals: {found['intervals'][1:3]}")

# Traces that are none: one line, and nothing of an audit.
run, trace = write_run(scratch / "bad", None)
step = trace / "step-3.safetensors"
whole = step.read_bytes()


def refused(what, *say):
    ran, _, _ = audit(run, trace, "--all")
    check(ran.returncode == 2 and ran.stderr.count("\n") == 1 and all(w in ran.stderr for w in say), f"{what}: {ran.returncode} {ran.stderr!r}")
    step.write_bytes(whole)


step.write_bytes(whole[:-1])
refused("cut", "step-3.safetensors")
step.unlink()
refused("missing", "step-3.safetensors")
for what, change, say in (("unnamed", lambda t: t.pop("h"), "`h` is missing"), ("unknown", lambda t: t.update(g=t["h"]), "`g` is no value"),
                          ("another type", lambda t: t.update(h=t["h"][:, :7]), "`h` is f32[12, 7], expected f32[12, 8]")):
    other = Trainer(None)
    seen = {"x": numpy.zeros((ROWS, 4), numpy.float32)} | other.step(torch.zeros(ROWS, 4), torch.zeros(ROWS, dtype=torch.int64))
    change(seen)
    step.write_bytes(safetensors(seen))
    refused(what, say)
data = (trace / "data.safetensors").read_bytes()
(trace / "data.safetensors").write_bytes(data + b"")
(trace / "data.safetensors").write_bytes(data[:-8] + bytes(8))
refused("other data", "data.safetensors", "the run's data has")
(trace / "data.safetensors").write_bytes(data)
ran = etalon("audit", run / "c.json", "--key", "k.pub", "--run", run)
check(ran.returncode == 2 and "--explained" in ran.stderr, f"without a trace: {ran.stderr!r}")

sys.exit(auditor.check.status(25))
