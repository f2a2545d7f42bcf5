"""Calls of PyTorch written down as they are made, as lines of Python."""
import contextlib
import inspect
import itertools
import keyword
import math
import re

import numpy
import torch
from torch.overrides import TorchFunctionMode, resolve_name

ACTIVE = []  # the recording under way, if any
OPERATORS = {"mul": "*", "add": "+", "sub": "-", "div": "/", "__truediv__": "/", "__floordiv__": "//", "gt": ">", "lt": "<",
             "ge": ">=", "le": "<=", "eq": "==", "ne": "!=", "pow": "**"}
REVERSED = {"__rsub__": "-", "__rtruediv__": "/", "__rpow__": "**", "__rfloordiv__": "//"}


def element(v, dtype):
    """A number as Python reads it, in the fewest digits that mean the same in this type."""
    if isinstance(v, (bool, int)):
        return repr(v)
    if math.isnan(v) or math.isinf(v):
        return f"float('{v}')"
    if dtype != torch.float32:
        return repr(v)
    short = str(numpy.float32(v))
    short = short if "." in short or "e" in short else short + "."
    return short if numpy.float32(float(short)) == v else repr(v)


def literal(x):
    """An expression that makes this tensor, its strides and offset included."""
    x = x.detach()
    suffix = "" if x.dtype in (torch.float32, torch.int64, torch.bool) else f", dtype={x.dtype}"
    if x.numel() == 0:
        return f"torch.zeros({tuple(x.shape)}" + (suffix or (f", dtype={x.dtype}" if x.dtype != torch.float32 else "")) + ")"
    if not x.is_contiguous() or x.storage_offset() != 0:
        last = x.storage_offset() + sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
        whole = x.as_strided((last + 1,), (1,), 0)
        return f"{literal(whole)}.as_strided({tuple(x.shape)}, {tuple(x.stride())}, {x.storage_offset()})"
    write = lambda v: "[" + ", ".join(map(write, v)) + "]" if isinstance(v, list) else element(v, x.dtype)
    return f"torch.tensor({write(x.tolist())}{suffix})"


def defaults(function):
    """The defaults of a function that is written in Python."""
    try:
        return {k: p.default for k, p in inspect.signature(function).parameters.items() if p.default is not p.empty}
    except (TypeError, ValueError):
        return {}


class Recording(TorchFunctionMode):
    """Writes down the calls that are made of PyTorch while it is active."""

    def __init__(self):
        super().__init__()
        self.names = {}   # of tensors, by identity
        self.kept = []    # every tensor seen, so that an identity is not used twice
        self.lines = []   # (text, names defined, names read)
        self.used = set()
        self.paused = False

    def fresh(self, wish):
        """A name that is free."""
        base = re.sub(r"\W", "_", wish)
        base = base + "_" if keyword.iskeyword(base) or base in ("torch", "ad") or base[0].isdigit() else base
        names = itertools.chain([base] if wish != "v" else [], (f"{base}{k}" for k in itertools.count(1)))
        name = next(name for name in names if name not in self.used)
        self.used.add(name)
        return name

    def name(self, x, wish="v"):
        if id(x) not in self.names:
            self.names[id(x)] = self.fresh(wish)
            self.kept.append(x)
        return self.names[id(x)]

    def add(self, text, defines, reads):
        self.lines.append((text, set(defines), set(reads)))

    def value(self, v, reads):
        if isinstance(v, torch.Tensor):
            if id(v) not in self.names:  # made out of sight
                text = literal(v)
                self.add(f"{self.name(v)} = {text}", [self.name(v)], [])
            reads.append(self.names[id(v)])
            return self.names[id(v)]
        if isinstance(v, (list, tuple)):
            items = ", ".join(self.value(item, reads) for item in v)
            if isinstance(v, tuple):
                return f"({items},)" if len(v) == 1 else f"({items})"
            return f"[{items}]"
        if isinstance(v, float) and not math.isfinite(v):
            return f"float('{v}')"
        if isinstance(v, slice):
            parts = [None if p is None else self.value(p, reads) for p in (v.start, v.stop, v.step)]
            return f"slice({', '.join(map(str, parts))})"
        return "..." if v is Ellipsis else repr(v)

    def call_text(self, func, args, kwargs, reads):
        path = resolve_name(func) or f"torch.{func.__name__}"
        name = path.rsplit(".", 1)[-1]
        written = [self.value(a, reads) for a in args]
        if path == "torch.Tensor.__getitem__":
            return f"{written[0]}[{written[1]}]"
        if path.startswith("torch.Tensor.") and len(args) == 2 and not kwargs and name in {**OPERATORS, **REVERSED}:
            a, b = written if name in OPERATORS else reversed(written)
            return f"{a} {OPERATORS.get(name) or REVERSED[name]} {b}"
        plain = {k: v for k, v in kwargs.items() if isinstance(v, torch.Tensor) or defaults(func).get(k, func) != v}
        named = [f"{k}={self.value(v, reads)}" for k, v in plain.items()]
        if path.startswith("torch.Tensor."):
            return f"{written[0]}.{name}({', '.join(written[1:] + named)})"
        return f"{path}({', '.join(written + named)})"

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.paused or (resolve_name(func) or "").endswith(".__get__"):
            return func(*args, **kwargs)
        reads = []
        text = self.call_text(func, args, kwargs, reads)
        touched = [x for x in self.kept if self.names[id(x)] in reads]
        versions = [x._version for x in touched]
        place = len(self.lines)
        self.add(text, ["!"], reads)  # kept if the call fails
        result = func(*args, **kwargs)
        changed = [self.names[id(x)] for x, v in zip(touched, versions) if x._version != v]
        made = list(result) if isinstance(result, (tuple, list)) else [result]
        if made and all(isinstance(r, torch.Tensor) for r in made) and not all(id(r) in self.names for r in made):
            targets = [self.name(r) for r in made]
            comma = "," if isinstance(result, (tuple, list)) and len(targets) == 1 else ""
            self.lines[place] = (f"{', '.join(targets)}{comma} = {text}", {*targets, *changed}, set(reads))
        else:
            self.lines[place] = (text, set(changed), set(reads))
        return result

    def step(self, optimizer, p, gradient, state):
        """An optimizer that is about to step from this state; its place among the lines."""
        made = type(optimizer)
        reads, parameter, name = [], self.fresh("parameter"), self.fresh("optimizer")
        given = {k: v for k, v in optimizer.defaults.items() if defaults(made).get(k, made) != v}
        told = "".join(f", {k}={self.value(v, reads)}" for k, v in given.items())
        kept = ", ".join(f"{k!r}: {self.value(v, reads)}" for k, v in state.items())
        lines = [f"{parameter} = torch.nn.Parameter({self.value(p, reads)}.clone())",
                 f"{parameter}.grad = {self.value(gradient, reads)}",
                 f"{name} = torch.optim.{made.__name__}([{parameter}]{told})",
                 *([f"{name}.state[{parameter}].update({{{kept}}})"] if kept else []),
                 f"{name}.step()"]
        self.add("\n".join(lines), ["!"], reads)
        return len(self.lines) - 1, parameter, name

    def stepped(self, place, q, state):
        """The results of that step."""
        at, parameter, name = place
        text, _, reads = self.lines[at]
        made = {parameter, name}
        results = [(self.name(q, "q"), f"{parameter}.detach()")]
        for key, v in state.items():
            if id(v) in self.names:  # changed in place
                made.add(self.names[id(v)])
            elif isinstance(v, torch.Tensor) and key != "step":
                results.append((self.name(v, key), f"{name}.state[{parameter}][{key!r}]"))
        self.lines[at] = (text, made, reads)
        for result, expression in results:
            self.add(f"{result} = {expression}", [result], [parameter, name])

    def needed(self, wanted):
        """The lines that these names depend on, and a call that failed."""
        wanted, texts = {*wanted, "!"}, []
        for text, defines, reads in reversed(self.lines):
            if defines & wanted:
                texts.append(text)
                wanted |= reads
        return texts[::-1]


@contextlib.contextmanager
def hidden():
    """Within it nothing is written down but what the recording, if there is one, is told."""
    if not ACTIVE:
        yield None
        return
    recording = ACTIVE[-1]
    recording.paused = True
    try:
        yield recording
    finally:
        recording.paused = False
