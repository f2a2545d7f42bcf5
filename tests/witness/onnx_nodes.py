"""ONNX's own tests as an independent witness: models of one node, inputs and outputs as files (libonnx-testdata). Each
model becomes a program of the library's operations; its recorded outputs must lie within that program's bounds.
Usage: onnx_nodes.py ETALON [--stride N] [--ops …]"""
import argparse
import collections
import importlib
import pathlib
import sys

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-numpy")
    sys.exit(77)

import explanations
import protobuf
import protocol
from evidence import Evidence
from onnx_rows import ROWS, Excluded

FOLDER = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")

for family in sorted(FOLDER.glob("onnx_rows_*.py")):
    importlib.import_module(family.stem)

# What is computed from shapes alone is known when the model is translated.
FOLDED = {
    "Shape": lambda node, x: numpy.array(x.shape[node.attributes.get("start", 0):node.attributes.get("end")]),
    "Size": lambda node, x: numpy.array(int(numpy.prod(x.shape))),
    "Slice": lambda node, x, start, stop: x[int(start[0]):int(stop[0])],
    "Concat": lambda node, *x: numpy.concatenate(x),
    "Gather": lambda node, x, t: numpy.take(x, t),
    "Sub": lambda node, a, b: a - b,
    "Unsqueeze": lambda node, x, axes=None: x.reshape(1),
    "Cast": lambda node, x: x,
    "ConstantOfShape": lambda node, shape: numpy.full(shape, node.attributes["value"].item()),
}


class Value:
    """A value of the program: its name, and what is known of it. What follows from shapes alone is `folded`."""

    def __init__(self, name, dtype=None, shape=None, array=None, folded=False):
        self.name, self.dtype, self.shape, self.array, self.folded = name, dtype, shape, array, folded


class Translation:
    """One model on one set of inputs as a program."""

    def __init__(self, model, given, library):
        self.model, self.library = model, library
        self.values, self.inputs, self.calls, self.definitions = {}, [], [], []
        self.missing = set()
        for name, array in [*model.initializers.items(), *zip(model.inputs, given)]:
            self.values[name] = Value(None, array.dtype, array.shape, array)
        for node in model.nodes:
            self.node = node
            found = self.folded(node)
            if found is not None:
                self.values[node.outputs[0]] = found
                continue
            if node.operation not in ROWS:
                raise Excluded(f"{node.operation} has no counterpart in the library")
            found = ROWS[node.operation](self)
            for name, value in zip(node.outputs, found if isinstance(found, (tuple, list)) else [found]):
                self.values[name] = value

    def folded(self, node):
        given = self.all()
        if node.operation in ("Shape", "Size") and given[0].shape is not None:
            known = [numpy.empty(given[0].shape)]
        elif node.operation in FOLDED and given and all(v is not None and v.folded for v in given):
            known = [v.array for v in given]
        else:
            return None
        if node.operation == "Cast" and known[0].dtype.kind == "f":
            return None
        array = FOLDED[node.operation](node, *known)
        return Value(None, array.dtype, array.shape, array, True)

    # What a row may ask of its node.
    def has(self, i):
        return i < len(self.node.inputs) and self.node.inputs[i] != ""

    def x(self, i=0):
        """Input i, or None where it is left out."""
        return self.values[self.node.inputs[i]] if self.has(i) else None

    def all(self):
        return [self.x(i) for i in range(len(self.node.inputs))]

    def a(self, name, default=None):
        return self.node.attributes.get(name, default)

    def constant(self, i, default=None):
        """Input i as numbers."""
        if not self.has(i):
            return default
        if self.x(i).array is None:
            raise Excluded("an operand that must be known is computed")
        return self.x(i).array

    def shape(self, value):
        if value.shape is None:
            raise Excluded("the shape of an intermediate is not known here")
        return tuple(value.shape)

    # What a row may emit.
    def literal(self, array, dtype=None):
        array = numpy.asarray(array, dtype)
        return Value(None, array.dtype, array.shape, array)

    def operand(self, value):
        if value is None:
            return None
        if value.name is None:
            if value.dtype.name not in protocol.NAMES:
                raise Excluded(f"{value.dtype.name} is no element type of the library")
            value.name = f"x{len(self.inputs)}"
            self.inputs.append(value)
        return value.name

    def call(self, operation, *operands, results=1, shape=None, packs=None, **attributes):
        if operation not in self.library and not self.definitions and "spec" not in attributes:
            self.missing.add(operation)
        names = [f"v{len(self.calls)}_{r}" for r in range(results)]
        call = {"operation": operation, "operands": [self.operand(x) for x in operands], "results": names,
                "attributes": {k: protocol.plain(v) for k, v in attributes.items()}}
        if packs:
            call["packs"] = packs
        self.calls.append(call)
        values = [Value(name, shape=shape) for name in names]
        return values[0] if results == 1 else values

    def answered(self, expected):
        """The recorded outputs that the rows gave."""
        return [y for name, y in zip(self.model.outputs, expected) if self.values.get(name) is not None]

    def pair(self, identity, expected):
        """The request and the recorded answer, for the outputs that the rows gave."""
        chosen = [(self.values[name], y) for name, y in zip(self.model.outputs, expected)
                  if self.values.get(name) is not None]
        if not chosen or not self.calls:
            raise Excluded("nothing is computed")
        for value, y in chosen:
            if y.dtype.name not in protocol.NAMES:
                raise Excluded(f"{y.dtype.name} is no element type of the library")
        if any(value.name is None for value, _ in chosen):
            raise Excluded("an output is an input")
        inputs = [{"name": v.name, "dtype": protocol.NAMES[v.dtype.name], "shape": list(v.shape)} for v in self.inputs]
        program = {"inputs": inputs, "calls": self.calls, "outputs": [value.name for value, _ in chosen]}
        if self.definitions:
            program["definitions"] = self.definitions
        asked = protocol.request(identity, "forward", program, [v.array for v in self.inputs])
        return asked, {"id": identity, "outputs": [protocol.encoded(y) for _, y in chosen]}


def tensors(folder, kind):
    files = sorted(folder.glob(f"{kind}_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    try:
        return [protobuf.tensor(f.read_bytes()) for f in files]
    except ValueError as not_a_tensor:
        raise Excluded("sequences and optional values") from not_a_tensor


def spoiled(asked, translation, expected):
    """The recorded answer with one number made larger by a quarter and a bit."""
    outputs = [numpy.array(y) for y in translation.answered(expected)]
    for y in outputs:
        if y.size and (y.dtype.kind != "f" or numpy.isfinite(y.flat[0])):
            y.flat[0] = not y.flat[0] if y.dtype == bool else y.flat[0] + abs(y.flat[0]) / 4 + 1
            break
    return {"id": asked["id"], "outputs": [protocol.encoded(y) for y in outputs]}


class Run:
    def __init__(self, library, judge, explained, evidence):
        self.library, self.judge, self.explained, self.evidence = library, judge, explained, evidence
        self.seen = set()
        self.excluded, self.pending, self.usable = collections.defaultdict(list), collections.defaultdict(list), 0

    def model(self, path, label):
        try:
            model = protobuf.Model((path / "model.onnx").read_bytes())
            operation = model.nodes[0].operation if len(model.nodes) == 1 else "(graphs)"
            usable = False
            for folder in sorted(path.glob("test_data_set_*")):
                usable = self.data_set(label, operation, model, folder) or usable
            self.usable += usable
        except (Excluded, protobuf.Unreadable) as reason:
            self.excluded[str(reason)].append(label)
        except Exception as error:  # a row that cannot be run is an error of the row
            self.evidence.broken(label, f"{type(error).__name__}: {error}")

    def data_set(self, label, operation, model, folder):
        translation = Translation(model, tensors(folder, "input"), self.library)
        if translation.missing:
            translation.pair(label, tensors(folder, "output"))
            self.pending[" ".join(sorted(translation.missing))].append(label)
            return False
        asked, answer = translation.pair(label, tensors(folder, "output"))
        outcome = self.judge(asked, answer)
        if outcome["verdict"] == "fail":
            def exact_agrees(function):
                """Whether the operator's formula, computed in f64 and rounded once, lies within the bounds."""
                node = model.nodes[0]
                wide = [x.astype("float64") for x in tensors(folder, "input")]
                exact = {"id": label, "outputs": [protocol.encoded(function(node.attributes, *wide).astype("float32"))]}
                return self.judge(asked, exact)["verdict"] == "pass"
            reason = self.explained.find(operation, "forward", "", {label}, {}, exact_agrees)
            outcome["verdict"] = reason or "fail"
        if operation not in self.seen and outcome["verdict"] == "pass" and outcome["comparisons"] > 0:
            self.seen.add(operation)
            if self.judge(asked, spoiled(asked, translation, tensors(folder, "output")))["verdict"] != "fail":
                self.evidence.broken(operation, f"a wrong number passes in {label}")
        self.evidence.add(operation, "forward", outcome, label, lambda: f"    {asked['program']['calls']}")
        return True

    def report(self):
        for reason, labels in sorted(self.excluded.items()):
            print(f"excluded {len(labels):4} × {reason}: {' '.join(labels)}")
        for reason, labels in sorted(self.pending.items()):
            print(f"not in the library yet: {reason}: {len(labels)} models")
        print(f"{self.usable} models judged, {sum(map(len, self.excluded.values()))} excluded, "
              f"{sum(map(len, self.pending.values()))} waiting for operations")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("etalon")
    words.add_argument("--stride", type=int, default=1, help="judge every so manieth model only")
    words.add_argument("--only", default="", help="models with this in their name")
    words = words.parse_args()
    if not DATA.is_dir():
        print(f"skipped: {DATA} is missing; on Debian: apt-get install libonnx-testdata")
        return 77
    judge = protocol.Judge(words.etalon, FOLDER / "numpy.json")
    explained = explanations.read(FOLDER / "onnx-explained.toml", {"numpy": numpy})
    evidence = Evidence("ONNX 1.12", ("forward",))
    run = Run(protocol.Library(words.etalon), judge, explained, evidence)
    models = sorted(p.parent for p in DATA.glob("*/*/model.onnx") if words.only in p.parent.name)
    for path in models[::words.stride]:
        run.model(path, f"{path.parent.name}/{path.name.removeprefix('test_')}")
    judge.close()
    run.report()
    complete = words.stride == 1 and not words.only
    return evidence.report(explained.broken() + (explained.unused() if complete else []))


if __name__ == "__main__":
    sys.exit(main())
