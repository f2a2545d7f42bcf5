"""The second reader against the golden cases and against the reference.

Every golden case is evaluated from the definition's text as `etalon spec --json` prints it, and must give the numbers of
the file. Then each case's call is made again with random numbers: here with 50 digits, rounded once to binary64, and by
`etalon serve --backend reference`; the two must be the same double.
"""
import base64
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
from fractions import Fraction

import mpmath

import instance
import syntax
from meaning import IllTyped, OutOfRange, Tensor

ROUNDS = 3


class Case:
    def __init__(self, operation, title):
        self.operation, self.title = operation, title
        self.attributes, self.tensors, self.rejected = {}, {}, False


def number(text):
    text = text.rstrip("~")
    if text in ("true", "false"):
        return text == "true"
    if text in ("inf", "-inf", "nan"):
        return mpmath.mpf(text)
    value = Fraction(text)
    return mpmath.mpf(value.numerator) / value.denominator


def attribute(text):
    text = text.strip()
    if text.startswith("["):
        return [attribute(x) for x in text[1:-1].split(",") if x.strip()]
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?(inf|nan|[\d.][\d.e+-]*)", text) else text


def cases_of(path):
    found = []
    for line in path.read_text().splitlines():
        if line.startswith("case "):
            found.append(Case(path.stem, line[5:]))
        elif line.startswith("attributes "):
            for part in re.split(r",\s*(?![^\[]*\])", line[11:]):
                name, value = part.split("=", 1)
                found[-1].attributes[name.strip()] = attribute(value)
        elif line.startswith("rejected"):
            found[-1].rejected = True
        elif " = " in line and not line.startswith("#"):
            name, value = line.split(" = ", 1)
            name = name.strip()
            if name.endswith(("~", "'")):
                continue
            found[-1].tensors[name] = None if value.strip() == "absent" else tensor(value)
    return found


def tensor(text):
    head, values = text.split(":", 1)
    dtype, extents = re.fullmatch(r"(\w+)\[(.*)\]", head.strip()).groups()
    shape = [int(e) for e in extents.split(",") if e.strip()]
    words = values.split()
    made = Tensor.of(shape, [as_dtype(dtype, number(w)) for w in words])
    made.dtype, made.words = dtype, words
    return made


def as_dtype(dtype, value):
    return int(value) if dtype in ("i32", "i64") else bool(value) if dtype == "bool" else value


def operands_of(definition, case):
    operands, packs = [], []
    for operand in definition.operands:
        if operand.pack:
            members = [v for k, v in case.tensors.items() if k.split("#")[0] == operand.name and "#" in k]
            packs.append(len(members))
            operands += members
        else:
            operands.append(case.tensors.get(operand.name))
    return operands, packs


def within(value, word):
    """Exactly the number, or within half a unit of its last digit."""
    expected = number(word)
    if isinstance(expected, bool) or mpmath.isnan(expected) or mpmath.isinf(expected):
        return bool(value == expected) or (not isinstance(value, bool) and bool(mpmath.isnan(value) and mpmath.isnan(expected)))
    if not word.endswith("~"):
        return bool(abs(value - expected) <= mpmath.mpf(10) ** -45 * (1 + abs(expected)))
    digits = word.rstrip("~").lower()
    mantissa, _, exponent = digits.partition("e")
    places = len(mantissa.partition(".")[2])
    return bool(abs(value - expected) <= mpmath.mpf(10) ** (int(exponent or 0) - places) / 2)


class Reference:
    """`etalon serve --backend reference` as a child."""

    def __init__(self, command):
        self.child = subprocess.Popen([command, "serve", "--backend", "reference"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


FORMATS = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "bool": "?"}


def encoded(t):
    values = [float(v) if t.dtype in ("f64", "f32") else v for v in t.flat()]
    data = struct.pack(f"<{len(values)}{FORMATS[t.dtype]}", *values)
    return {"dtype": t.dtype, "shape": t.shape, "data": base64.b64encode(data).decode()}


def decoded(answer):
    data = base64.b64decode(answer["data"])
    code = FORMATS[answer["dtype"]]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))


def names_of_results(definition, count):
    """`y`, or `y#0`, `y#1` for a pack, which stands alone."""
    if definition.results[0].pack:
        return [f"{definition.results[0].name}#{member}" for member in range(count)]
    return [r.name for r in definition.results]


def request_of(case, operands, packs, count, texts):
    inputs, names = [], []
    for i, t in enumerate(operands):
        names.append(None if t is None else f"x{i}")
        if t is not None:
            inputs.append({"name": f"x{i}", "dtype": t.dtype, "shape": t.shape})
    results = [f"y{i}" for i in range(count)]
    attributes = {k: v if not isinstance(v, float) or mpmath.isfinite(v) else str(v) for k, v in case.attributes.items()}
    call = {"operation": case.operation, "operands": names, "attributes": attributes, "results": results}
    if packs:
        call["packs"] = packs
    return {"request": "run", "id": case.title, "mode": "forward",
            "program": {"definitions": texts, "inputs": inputs, "calls": [call], "outputs": results},
            "inputs": [encoded(t) for t in operands if t is not None]}


def redrawn(t, engine):
    """The same shape with other reals; integers and truth values stay, since indices mean something."""
    if t is None or t.dtype not in ("f64", "f32"):
        return t
    positive = all(v >= 0 for v in t.flat())
    values = [engine.uniform(0.1, 2) if positive else engine.uniform(-2, 2) for _ in t.flat()]
    made = Tensor.of(t.shape, [mpmath.mpf(v) for v in values])
    made.dtype = "f64"
    return made


def alike(a, b):
    """Two algorithms of one function; where one of them overflows or leaves its domain they may part."""
    if isinstance(a, (bool, int)) or not (mpmath.isfinite(a) and mpmath.isfinite(b)):
        return not isinstance(a, (bool, int)) or a == b
    return bool(abs(a - b) <= mpmath.mpf(10) ** -35 * (1 + abs(a)))


def same(mine, theirs, dtype):
    if dtype in ("i64", "i32", "bool"):
        return int(mine) == int(theirs)
    rounded = struct.unpack("<f", struct.pack("<f", float(mine)))[0] if dtype == "f32" else float(mine)
    return rounded == theirs or (rounded != rounded and theirs != theirs)


def spec_of(command, *words):
    run = subprocess.run([command, "spec", "--json", *words], check=True, capture_output=True, text=True)
    return json.loads(run.stdout)["definitions"]


def main():
    command, root = sys.argv[1], pathlib.Path(sys.argv[2])
    own = root / "tests/second_reader/definitions.txt"  # of forms that the library itself may not have
    library = {d["name"] for d in spec_of(command)}
    listed = spec_of(command, "--definitions", str(own))
    definitions = {d["name"]: syntax.parse(d["text"]) for d in listed}
    instance.DEFINITIONS.update(definitions)
    reference, engine = Reference(command), random.Random(20)
    golden = drawn = refused = 0
    faults, seen = [], set()
    for path in sorted([*(root / "tests/golden").glob("*.txt"), *(root / "tests/second_reader/cases").glob("*.txt")]):
        definition = definitions[path.stem]
        for case in cases_of(path):
            operands, packs = operands_of(definition, case)
            where = f"{case.operation}: {case.title}"
            try:
                results = instance.call(definition, operands, packs, case.attributes)
            except (IllTyped, OutOfRange, KeyError, TypeError, StopIteration, IndexError, ValueError, ZeroDivisionError) as error:
                if case.rejected:
                    refused += 1
                else:
                    faults.append(f"{where}: {type(error).__name__} {error}")
                continue
            if case.rejected:
                continue  # this reader interprets; it does not prove every constraint
            for form, part in definition.parts:
                if form != "also":
                    continue
                for mine, other in zip(results, instance.call(definition, operands, packs, case.attributes, part)):
                    for a, b in zip(mine.flat(), other.flat()):
                        golden += 1
                        if not alike(a, b):
                            faults.append(f"{where}: {mpmath.nstr(a, 20)}, its also part gives {mpmath.nstr(b, 20)}")
            for name, mine in zip(names_of_results(definition, len(results)), results):
                expected = case.tensors.get(name)
                if expected is None:
                    continue
                if expected.shape != mine.shape:
                    faults.append(f"{where}: shape {mine.shape}, expected {expected.shape}")
                    continue
                for value, word in zip(mine.flat(), expected.words):
                    golden += 1
                    if not within(value, word):
                        faults.append(f"{where}: {mpmath.nstr(value, 20)}, expected {word}")
            for _ in range(ROUNDS):
                again = [redrawn(t, engine) for t in operands]
                texts = [] if path.stem in library else [own.read_text()]
                answer = reference.ask(request_of(case, again, packs, len(results), texts))
                if "outputs" not in answer:
                    faults.append(f"{where}: the reference answers {answer}")
                    continue
                for mine, theirs in zip(instance.call(definition, again, packs, case.attributes), answer["outputs"]):
                    if theirs["shape"] != mine.shape:
                        faults.append(f"{where}: shape {mine.shape}, the reference has {theirs['shape']}")
                        continue
                    for a, b in zip(mine.flat(), decoded(theirs)):
                        drawn += 1
                        if not same(a, b, theirs["dtype"]):
                            faults.append(f"{where}: {mpmath.nstr(a, 20)}, the reference has {b!r}")
            seen.add(case.operation)
    faults += [f"{name}: no case was compared" for name in sorted(set(definitions) - seen)]
    print("\n".join(faults[:40]))
    print(f"{len(seen)} operations, {golden} golden numbers, {drawn} random numbers, {refused} refused, {len(faults)} faults")
    sys.exit(1 if faults or golden < 100 or drawn < 1000 else 0)


main()
