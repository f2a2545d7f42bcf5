"""`import etalon` over PyTorch's functions gives the verdicts of the PyTorch adapter, case for case.

Usage: agreement.py ETALON ADAPTER LEAST OPERATIONS

OPERATIONS is a list separated by commas, or I/N for the I-th of N shares of all that the adapter knows; at least LEAST must be held
to their derivatives too. Without PyTorch the test is skipped.

One difference is explained: PyTorch copies tangents whose memory is not laid out as their operand's, and refuses where one place is many
elements. The adapter's tensors lie in buffers of different lengths, so that PyTorch copies; those of `import etalon` do not."""
import importlib
import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile
import types

etalon_command, adapter, least, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import etalon
from etalon.torch_answers import ByTorch

sys.path.insert(0, str(adapter.parent))
adapter_module = importlib.import_module("adapter")
table = importlib.import_module("table")
for family in adapter_module.FAMILIES:
    importlib.import_module(family)
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def differentiates(mode, method):
    """The method, while which the mode is known to rows that have no derivative."""
    def told(*words):
        asked["mode"] = mode
        return method(*words)
    return told


asked = {"mode": "forward"}
for mode in ByTorch.modes:
    setattr(ByTorch, mode, differentiates(mode, getattr(ByTorch, mode)))


def function_of(row):
    """A row of the adapter's table as a callable takes operands and attributes."""
    def function(*operands, **attributes):
        flat = [x for operand in operands for x in (operand if isinstance(operand, list) else [operand])]
        if not row.differentiable and asked["mode"] != "forward":
            raise etalon.Unsupported("mode", "PyTorch does not differentiate it")
        try:
            return row.function(types.SimpleNamespace(**attributes), *flat)
        except table.Unsupported as reason:
            raise etalon.Unsupported(reason.what, str(reason)) from None
    return function


def operations():
    names = sorted(set(table.ROWS) & set(etalon.operations()))
    if "/" not in wanted:
        return wanted.split(",")
    share, shares = map(int, wanted.split("/"))
    return names[share - 1::shares]


def verdicts_of_adapter(names):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        subprocess.run([etalon_command, "conform", "--backend", f"exec:{sys.executable} {adapter}", "--ops", ",".join(names), "--jobs", "1",
                        "--shrink-seconds", "0", "--json", str(report)], capture_output=True, check=False)
        return {r["id"]: (r["verdict"], r.get("why", "")) for r in map(json.loads, report.read_text().splitlines()) if r["kind"] == "result"}


names = operations()
theirs = verdicts_of_adapter(names)
def verdicts_of_module(name, answers):
    """Of one operation, in programs beside all others."""
    functions = {other: function_of(row) for other, row in table.ROWS.items() if other in set(etalon.operations())}
    run = etalon.conform(functions, [name], like=torch, dtypes=["f32", "f64"], contract=str(adapter.parent / "contract.json"), shrink_seconds=0)
    answers.put([(r.id, r.verdict, r.why) for r in run.records])


def in_a_child(name):
    """The verdicts on an operation; nothing where PyTorch ends the process, which a process of its own would survive."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=verdicts_of_module, args=(name, answers))
    child.start()
    while child.is_alive() and answers.empty():
        child.join(0.05)
    found = None if answers.empty() else answers.get()
    child.join()
    return found


ours, ended = {}, []
for name in names:
    found = in_a_child(name)
    if found is None:
        ended.append(name)
    else:
        ours.update({id: (verdict, why) for id, verdict, why in found})
crashed = {id.split(".")[0] for id, (verdict, _) in theirs.items() if verdict == "crashed"}
theirs = {id: verdict for id, verdict in theirs.items() if id.split(".")[0] not in ended}
explained = {id for id in set(theirs) & set(ours)
             if theirs[id][0] == "unsupported" != ours[id][0] and "refers to a single memory location" in theirs[id][1]}
# After a refusal another case is asked of the same operation, check and type.
moved = {tuple(id.split(".")[:3]) for id in explained}
faults = [f"{id}: the adapter says {theirs.get(id)}, import etalon {ours.get(id)}" for id in sorted(set(theirs) | set(ours))
          if theirs.get(id, ("",))[0] != ours.get(id, ("",))[0] and id not in explained
          and not ((id not in theirs or id not in ours) and tuple(id.split(".")[:3]) in moved)]
faults += [f"{name}: it ended the process, and not that of the adapter" for name in ended if name not in crashed]
differentiated = {id.split(".")[0] for id, (verdict, _) in ours.items() if id.split(".")[1] in ("jvp", "vjp") and verdict in ("pass", "fail")}
print("\n".join(faults[:40]))
print(f"{len(names)} operations, {len(differentiated)} of them with derivatives, {len(ours)} cases, {len(faults)} verdicts differ, "
      f"{len(explained)} explained, ended the process: {', '.join(ended) or 'none'}")
sys.exit(1 if faults or len(differentiated) < least or not ours else 0)
