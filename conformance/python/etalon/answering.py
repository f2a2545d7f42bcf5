"""How a callable answers the suite's questions: it is called with the operands of each call, in order, and its attributes by name."""
import inspect

import numpy

from etalon import _etalon
from etalon.refusals import Unsupported

BAD = ("fail", "crashed", "timeout")  # verdicts of answers that are wrong, or that never came


class Called:
    """One callable under the signature of one operation.

    `rename` gives attributes other keywords, and operands keywords where they are not to be taken in order."""

    def __init__(self, function, operation, rename):
        self.function, self.rename = function, rename or {}
        self.operation = _etalon.op(operation)
        try:
            self.signature = inspect.signature(function)
        except (ValueError, TypeError):
            self.signature = None

    def grouped(self, flat, packs):
        """One entry per declared operand: a list for a pack."""
        names, is_pack = self.operation.operands, self.operation.packs
        packs, flat, entries = list(packs), list(flat), []
        if not packs and any(is_pack):
            packs = [len(flat) - (len(names) - 1)]
        for pack in is_pack:
            if pack:
                taken = packs.pop(0)
                entries.append(flat[:taken])
                flat = flat[taken:]
            else:
                entries.append(flat.pop(0) if flat else None)
        return entries

    def arguments(self, operands, attributes):
        """Positional and keyword arguments."""
        positional, keywords = [], {}
        for name, x in zip(self.operation.operands, operands):
            if name in self.rename:
                keywords[self.rename[name]] = x
            else:
                positional.append(x)
        keywords.update({self.rename.get(name, name): held for name, held in attributes.items()})
        if self.signature is None:
            return positional, keywords
        while True:
            try:
                self.signature.bind(*positional, **keywords)
                return positional, keywords
            except TypeError as refused:
                if not positional or positional[-1] is not None:
                    raise Unsupported("attribute", f"{name_of(self.function)}: {refused}") from None
                positional.pop()

    def __call__(self, operands, attributes):
        """The results as a list."""
        positional, keywords = self.arguments(operands, attributes)
        try:
            results = self.function(*positional, **keywords)
        except TypeError as refused:
            # Raised by the call itself, of what says nothing of its signature.
            if self.signature is None and refused.__traceback__.tb_next is None:
                raise Unsupported("attribute", f"{name_of(self.function)}: {refused}") from None
            raise
        return list(results) if isinstance(results, (tuple, list)) else [results]


def name_of(function):
    return getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__


def run(question, called, inputs):
    """The outputs of the question's calls on these inputs."""
    values = dict(zip(question["names"], inputs))
    for call in question["calls"]:
        if call["operation"] not in called:
            raise Unsupported("operation", f"{call['operation']} is not held here")
        one = called[call["operation"]]
        operands = one.grouped([None if name is None else values[name] for name in call["operands"]], call["packs"])
        results = one(operands, call["attributes"])
        if len(results) != len(call["results"]):
            raise ValueError(f"{call['operation']}: expected {len(call['results'])} results, found {len(results)}")
        values.update(zip(call["results"], results))
    return [values[name] for name in question["outputs"]]


class ByNumpy:
    """Operands are NumPy arrays; there are no derivatives."""
    dtypes = ("f16", "f32", "f64", "i32", "i64", "bool")
    modes = ("forward",)
    version = numpy.__version__

    def take(self, array, dtype):
        if dtype == "bf16":
            raise Unsupported("dtype", f"NumPy has no {dtype}")
        return array

    def give(self, y):
        return y

    def zeros_like(self, x):
        return numpy.zeros_like(x)

    def refused(self, error):
        return error

    def forward(self, question, called, inputs):
        with numpy.errstate(all="ignore"):
            return {"outputs": run(question, called, inputs)}


class Answer:
    """Answers questions by callables of one framework, with derivatives of the framework's or of the callable's own."""

    def __init__(self, called, framework, jvp=None, vjp=None):
        self.called, self.framework, self.own = called, framework, {"jvp": jvp, "vjp": vjp}

    def __call__(self, question):
        try:
            reply = self.reply(question)
        except Exception as error:
            refused = self.framework.refused(error)
            if refused is error:
                raise
            raise refused from error
        return {name: [None if y is None else self.framework.give(y) for y in list_] for name, list_ in reply.items()}

    def reply(self, question):
        framework, mode = self.framework, question["mode"]
        inputs = [framework.take(x, dtype) for x, dtype in zip(question["inputs"], question["dtypes"])]
        if self.own.get(mode):
            return self.by_own(question, inputs, self.own[mode])
        if hasattr(framework, mode):
            return getattr(framework, mode)(question, self.called, inputs)
        raise Unsupported("mode", f"{mode} is not offered")

    def seeds(self, given, like):
        """Arrays of the framework, zeros where a real one has none, None for what carries no derivative."""
        given = list(given) + [None] * (len(like) - len(given))
        return [self.framework.zeros_like(x) if t is None and dtype_is_real(x) else t if t is None else self.framework.take(t, None)
                for t, x in zip(given, like)]

    def by_own(self, question, inputs, derivative):
        """By the derivative that the callable's author gives, of one call."""
        if len(question["calls"]) != 1:
            raise Unsupported("request", "a derivative of one's own is of a single call")
        call, mode = question["calls"][0], question["mode"]
        one = self.called[call["operation"]]
        at = {name: i for i, name in enumerate(question["names"])}
        places = one.grouped([None if name is None else at[name] for name in call["operands"]], call["packs"])
        def of(list_):
            return tuple(None if p is None else [list_[i] for i in p] if isinstance(p, list) else list_[p] for p in places)
        outputs = run(question, self.called, inputs)
        keywords = {one.rename.get(name, name): held for name, held in call["attributes"].items()}
        if mode == "jvp":
            found = derivative(of(inputs), of(self.seeds(question["tangents"], inputs)), **keywords)
            return {"outputs": outputs, "tangents": list(found) if isinstance(found, (tuple, list)) else [found]}
        found = derivative(of(inputs), tuple(self.seeds(question["cotangents"], outputs)), **keywords)
        found, spread = found if isinstance(found, (tuple, list)) else [found], [None] * len(inputs)
        for p, c in zip(places, found):
            for i, held in zip(p, c) if isinstance(p, list) else [(p, c)]:
                if i is not None and question["wrt"][i]:
                    spread[i] = held
        return {"outputs": outputs, "cotangents": spread}


def dtype_is_real(x):
    return "float" in str(x.dtype)
