"""Protocol 1 as a script writes it, and the library and the judge as the command offers them."""
import base64
import json
import subprocess

import numpy

NAMES = {"float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}


def encoded(array):
    """A tensor as the protocol has it; None stays None."""
    if array is None:
        return None
    array = numpy.asarray(array)
    little = numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {"dtype": NAMES[array.dtype.name], "shape": list(array.shape),
            "data": base64.b64encode(little.tobytes()).decode()}


def plain(value):
    """An attribute's value as JSON: NumPy's numbers as Python's, what is not finite by name."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not numpy.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value


def one_call(operation, operands, packs, attributes, results):
    """A program of one call and its inputs; an absent operand is None."""
    inputs, names = [], []
    for operand in operands:
        if operand is None:
            names.append(None)
            continue
        name = f"x{len(inputs)}"
        names.append(name)
        inputs.append({"name": name, "dtype": NAMES[operand.dtype.name], "shape": list(operand.shape)})
    outputs = [f"y{r}" for r in range(results)]
    call = {"operation": operation, "operands": names, "results": outputs,
            "attributes": {name: plain(value) for name, value in attributes.items()}}
    if packs:
        call["packs"] = packs
    return {"inputs": inputs, "calls": [call], "outputs": outputs}


def request(identity, mode, program, inputs, wrt=None, tangents=None, cotangents=None):
    """A run request; tangents are per input, cotangents per output."""
    line = {"request": "run", "id": identity, "mode": mode, "program": program, "inputs": [encoded(x) for x in inputs]}
    if wrt is not None:
        line["wrt"] = wrt
    if tangents is not None:
        line["tangents"] = [encoded(t) for t in tangents]
    if cotangents is not None:
        line["cotangents"] = [encoded(c) for c in cotangents]
    return line


class Library:
    """The definitions of this build, by name."""

    def __init__(self, command):
        listed = subprocess.run([command, "spec", "--json"], check=True, capture_output=True, text=True).stdout
        self.definitions = {d["name"]: d for d in json.loads(listed)["definitions"]}

    def __contains__(self, name):
        return name in self.definitions

    def attributes(self, name):
        return {a["name"] for a in self.definitions[name]["attributes"]}


class Judge:
    """`etalon judge`, kept open: a pair goes in, its verdict comes out."""

    def __init__(self, command, contract):
        self.process = subprocess.Popen([command, "judge", "--contract", str(contract)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1 << 20)

    def __call__(self, asked, answer):
        self.process.stdin.write(json.dumps({"request": asked, "answer": answer}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"etalon judge ended at {asked['id']} with status {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
