"""PyTorch as an independent witness: for every operation that it has, its values, VJPs and JVPs on random cases must
lie within the bounds that the definition gives for careful arithmetic. Usage: pytorch.py ETALON [--stride N] [--ops …]

A disagreement is an error unless explained.toml explains it; an explanation that explains nothing is an error too."""
import argparse
import importlib
import pathlib
import sys
import warnings

try:
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; on Debian: apt-get install python3-torch")
    sys.exit(77)

import explanations
import protocol
from draw import Draw
from evidence import Evidence
from rows import ROWS, WITHOUT

FOLDER = pathlib.Path(__file__).resolve().parent
CASES = 30  # per operation and element type
MODES = ("forward", "vjp", "jvp")
REAL = (numpy.float32, numpy.float64)

for family in sorted(FOLDER.glob("pytorch_*.py")):
    importlib.import_module(family.stem)


def tensor(operand):
    return None if operand is None else torch.from_numpy(numpy.array(operand))


def results_of(case, operands):
    found = case.function(*operands)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def array(t):
    return t.detach().resolve_conj().resolve_neg().contiguous().numpy()


def forward_jvp(function, x, tangent):
    """PyTorch's own forward mode, for the examples of explanations."""
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        return forward.unpack_dual(function(forward.make_dual(x, tangent))).tangent


class Question:
    """One case with its seeds, in one element type."""

    def __init__(self, case, seed):
        self.case = case
        self.operands = case.operands
        self.present = [i for i, x in enumerate(case.operands) if x is not None]
        self.wrt = [i for i in self.present if case.operands[i].dtype in REAL and i not in case.fixed]
        self.rng = numpy.random.default_rng(seed)
        self.outputs = [array(y) for y in results_of(case, [tensor(x) for x in self.operands])]
        self.cotangents = [self.seed(y) if y.dtype in REAL else None for y in self.outputs]
        self.tangents = [self.seed(x) if i in self.wrt else None for i, x in enumerate(self.operands)]

    def seed(self, like):
        return numpy.asarray(self.rng.standard_normal(like.shape), dtype=like.dtype)

    def in_type(self, dtype):
        """The same question with reals of another type, each number rounded to it."""
        def cast(x):
            return x.astype(dtype) if x is not None and x.dtype in REAL else x
        other = object.__new__(Question)
        other.__dict__.update(self.__dict__)
        other.operands = [cast(x) for x in self.operands]
        other.tangents = [cast(x) for x in self.tangents]
        other.cotangents = [cast(x) for x in self.cotangents]
        other.outputs = [array(y) for y in results_of(self.case, [tensor(x) for x in other.operands])]
        return other

    def vjp(self):
        operands = [tensor(x) for x in self.operands]
        for i in self.wrt:
            operands[i].requires_grad_()
        outputs = results_of(self.case, operands)
        pairs = [(y, tensor(c)) for y, c in zip(outputs, self.cotangents) if c is not None and y.requires_grad]
        wanted = [operands[i] for i in self.wrt]
        found = [None] * len(wanted)
        if pairs:
            found = torch.autograd.grad([y for y, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True)
        cotangents = [None] * len(self.operands)
        for i, x, d in zip(self.wrt, wanted, found):
            cotangents[i] = array(torch.zeros_like(x) if d is None else d)
        return [cotangents[i] for i in self.present]

    def jvp(self):
        try:
            return self.forward_jvp()
        except (NotImplementedError, RuntimeError) as error:
            if "forward" not in str(error):
                raise
            return self.double_vjp()

    def forward_jvp(self):
        forward = torch.autograd.forward_ad
        with forward.dual_level():
            operands = [tensor(x) for x in self.operands]
            for i in self.wrt:
                operands[i] = forward.make_dual(operands[i], tensor(self.tangents[i]))
            outputs = [(y, forward.unpack_dual(y).tangent if y.is_floating_point() else None)
                       for y in results_of(self.case, operands)]
            return [None if not y.is_floating_point() else array(torch.zeros_like(y) if t is None else t)
                    for y, t in outputs]

    def double_vjp(self):
        """The VJP is linear in its cotangents; the VJP of that is the JVP."""
        operands = [tensor(x) for x in self.operands]
        for i in self.wrt:
            operands[i].requires_grad_()
        outputs = results_of(self.case, operands)
        moving = [y for y in outputs if y.requires_grad]
        seeds = [torch.zeros_like(y, requires_grad=True) for y in moving]
        gradients = torch.autograd.grad(moving, [operands[i] for i in self.wrt], seeds, create_graph=True,
                                        allow_unused=True)
        pairs = [(d, tensor(self.tangents[i])) for i, d in zip(self.wrt, gradients) if d is not None]
        found = iter(torch.autograd.grad([d for d, _ in pairs], seeds, [t for _, t in pairs], allow_unused=True))
        tangents = []
        for y in outputs:
            t = next(found) if y.requires_grad else None
            tangents.append(None if not y.is_floating_point() else array(torch.zeros_like(y) if t is None else t))
        return tangents

    def pair(self, operation, mode, dtype=None):
        """The request and PyTorch's answer, both rounded to `dtype` where one is given."""
        inputs = [self.operands[i] for i in self.present]
        answer = {"outputs": self.outputs}
        if mode == "vjp":
            answer["cotangents"] = self.vjp()
        elif mode == "jvp":
            answer["tangents"] = self.jvp()

        def cast(x):
            return x.astype(dtype) if dtype and x is not None and x.dtype in REAL else x
        operands = [cast(x) for x in self.operands]
        program = protocol.one_call(operation, operands, self.case.packs, self.case.attributes, len(self.outputs))
        wrt = [self.present.index(i) for i in self.wrt]
        asked = protocol.request(
            f"{operation}.{mode}", mode, program, [cast(x) for x in inputs], wrt if mode != "forward" else None,
            [cast(self.tangents[i]) for i in self.present] if mode == "jvp" else None,
            [cast(c) for c in self.cotangents] if mode == "vjp" else None)
        return asked, {"id": asked["id"], **{k: [protocol.encoded(cast(x)) for x in v] for k, v in answer.items()}}


def rounded_agrees(operation, question, mode, judge):
    """Whether the same function, computed in f64 from f32 numbers and rounded once, lies within the f32 bounds: then
    PyTorch means what the definition means, and only its way of rounding is another."""
    try:
        wide = question.in_type(numpy.float32).in_type(numpy.float64)
        return judge(*wide.pair(operation, mode, numpy.float32))["verdict"] in ("pass", "undecided")
    except (NotImplementedError, RuntimeError):
        return False


def judge_case(operation, dtype, index, library, judge, explained, evidence):
    g = Draw(operation, dtype, index)
    case = ROWS[operation](g)
    ahead = case.attributes.keys() - library.attributes(operation)
    for name in sorted(ahead):
        evidence.absent(f"{operation}{{{name}}}")
    if ahead:
        return
    question = Question(case, [index, 7])
    if question.present and all(case.operands[i].ndim == 0 for i in question.present):
        g.tags.add("scalars")
    modes = MODES if case.differentiable and question.wrt and "special" not in g.tags else MODES[:1]
    if modes != MODES[:1] and not any(c is not None for c in question.cotangents):
        modes = MODES[:1]
    for mode in modes:
        name = f"{operation}.{mode}.{protocol.NAMES[dtype]}.{index}"
        try:
            pair = question.pair(operation, mode)
        except (NotImplementedError, RuntimeError) as error:
            if mode == "forward":
                raise
            evidence.skip(operation, mode, f"PyTorch: {str(error).splitlines()[0]}")
            continue
        outcome = judge(*pair)
        if outcome["verdict"] == "fail":
            reason = explained.find(operation, mode, protocol.NAMES[dtype], g.tags, case.attributes,
                                    lambda _: rounded_agrees(operation, question, mode, judge))
            if reason:
                outcome["verdict"] = reason
        evidence.add(operation, mode, outcome, name, lambda: describe(question, pair[1]))


def catches(operation, library, judge):
    """Whether the judge sees a wrong number: PyTorch's first value, made larger by a quarter and a bit."""
    for index in range(4):
        g = Draw(operation, "float64", index)
        case = ROWS[operation](g)
        if case.attributes.keys() - library.attributes(operation):
            return True
        question = Question(case, [index, 7])
        for y, output in enumerate(question.outputs):
            if output.size and output.dtype in REAL and numpy.isfinite(output.flat[0]):
                question.outputs[y] = output.copy()
                question.outputs[y].flat[0] += 0.25 * abs(output.flat[0]) + 2.0**-20
            elif output.size and output.dtype not in REAL:
                question.outputs[y] = output.copy()
                question.outputs[y].flat[0] = not output.flat[0] if output.dtype == bool else output.flat[0] + 1
            else:
                continue
            if judge(*question.pair(operation, "forward"))["verdict"] == "fail":
                return True
    return False


def describe(question, answer):
    import base64
    types = {"f32": "<f4", "f64": "<f8", "i64": "<i8", "i32": "<i4", "bool": "?"}
    text = [f"    {question.case.attributes}"]
    for label, listed in (("operand", question.operands), ("cotangent", question.cotangents),
                          ("tangent", question.tangents)):
        text += [f"    {label} {i}: {x.tolist()} {x.dtype}" for i, x in enumerate(listed) if x is not None]
    for label, listed in answer.items():
        if label != "id":
            text += [f"    {label} {i}: {numpy.frombuffer(base64.b64decode(t['data']), types[t['dtype']]).tolist()}"
                     for i, t in enumerate(listed) if t]
    return "\n".join(text)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("etalon")
    words.add_argument("--stride", type=int, default=1, help="judge every so manieth case only")
    words.add_argument("--ops", help="these operations only, separated by commas")
    words.add_argument("--cases", type=int, default=CASES)
    words = words.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    library = protocol.Library(words.etalon)
    judge = protocol.Judge(words.etalon, FOLDER / "pytorch-cpu.json")
    scope = {"torch": torch, "forward_jvp": forward_jvp}
    explained = explanations.read(FOLDER / "explained.toml", scope)
    evidence = Evidence("PyTorch " + torch.__version__, MODES)
    wanted = words.ops.split(",") if words.ops else sorted(ROWS)
    for operation in wanted:
        if operation not in library:
            evidence.absent(operation)
            continue
        for index in range(0, words.cases):
            for dtype in ("float32", "float64"):
                if (2 * index + (dtype == "float64")) % words.stride == 0:
                    try:
                        judge_case(operation, dtype, index, library, judge, explained, evidence)
                    except Exception as error:  # a row that cannot be run is an error of the row
                        evidence.broken(operation, f"{dtype} {index}: {type(error).__name__}: {error}")
        try:
            if words.stride == 1 and not catches(operation, library, judge):
                evidence.broken(operation, "a wrong number passes")
        except Exception as error:
            evidence.broken(operation, f"{type(error).__name__}: {error}")
    if not words.ops:
        evidence.unwitnessed(library.definitions.keys() - ROWS.keys(), WITHOUT)
    judge.close()
    complete = words.stride == 1 and not words.ops and words.cases == CASES
    return evidence.report(explained.broken() + (explained.unused() if complete else []))


if __name__ == "__main__":
    sys.exit(main())
