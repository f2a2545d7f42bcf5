"""Values with tangents and cotangents, and the tape that carries them from rule to rule.

Reals are computed in f64 and rounded to their own type when a call stores its results; integers keep their type.
"""
import os

import numpy as np

PLANTED = os.environ.get("ETALON_BLIND", "")
CACHE = {}
ARRAYS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
NAMES = {np.dtype(array): name for name, array in ARRAYS.items()}


def planted(name):
    """Whether the defect of that name is switched on."""
    return PLANTED == name


class Unsupported(Exception):
    """What is not offered (operation, dtype, mode, attribute, shape, layout or request), and why."""


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)


class Rule:
    """A kernel: y = forward(a, *x), tangent jvp(a, x, y, dx), cotangents of the operands vjp(a, x, y, g)."""

    def __init__(self, forward, jvp=None, vjp=None):
        self.forward, self.jvp, self.vjp = forward, jvp, vjp


class Value:
    """An array on a tape; arithmetic on it is recorded."""

    __array_ufunc__ = None

    def __init__(self, tape, array, tangent=None):
        self.tape, self.array, self.tangent, self.cotangent = tape, array, tangent, None

    shape = property(lambda self: self.array.shape)

    def __add__(self, other):
        return self.tape.binary("add", self, other)

    def __sub__(self, other):
        return self.tape.binary("sub", self, other)

    def __rsub__(self, other):
        return self.tape.binary("sub", other, self)

    def __mul__(self, other):
        return self.tape.binary("mul", self, other)

    def __truediv__(self, other):
        return self.tape.binary("div", self, other)

    def __neg__(self):
        return self.tape.one("neg", {}, self)

    __radd__, __rmul__ = __add__, __mul__


def added(terms):
    """The sum of those that are there, None where none is."""
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total


class Tape:
    """Runs rules by name; remembers them for the way back where cotangents are asked for."""

    def __init__(self, rules, mode):
        self.rules, self.mode, self.steps = rules, mode, []

    def constant(self, array):
        return Value(self, np.asarray(array))

    def binary(self, name, x, y):
        x, y = (v if isinstance(v, Value) else self.constant(np.float64(v)) for v in (x, y))
        return self.one(name, {}, x, y)

    def one(self, name, a, *operands):
        return self.all(name, a, *operands)[0]

    def all(self, name, a, *operands):
        rule = self.rules[name]
        if not isinstance(rule, Rule):  # made of others
            made = rule(self, a, *operands)
            return list(made) if isinstance(made, tuple) else [made]
        x = [None if v is None else v.array for v in operands]
        y = rule.forward(a, *x)
        results = [Value(self, np.asarray(v)) for v in (y if isinstance(y, tuple) else (y,))]
        if self.mode == "jvp" and rule.jvp:
            dx = [None if v is None else v.tangent for v in operands]
            if any(d is not None for d in dx):
                dy = rule.jvp(a, x, y, dx)
                for result, d in zip(results, dy if isinstance(dy, tuple) else (dy,)):
                    result.tangent = d
        if self.mode == "vjp" and rule.vjp:
            self.steps.append((rule, a, operands, x, y, results))
        return results

    def back(self):
        for rule, a, operands, x, y, results in reversed(self.steps):
            g = [r.cotangent for r in results]
            if all(c is None for c in g):
                continue
            for place, (v, c) in enumerate(zip(operands, rule.vjp(a, x, y, g[0] if len(g) == 1 else g))):
                if v is None or c is None:
                    continue
                if planted("operand_twice") and any(v is w for w in operands[:place]):
                    continue
                if v.cotangent is None:
                    v.cotangent = np.asarray(c)
                elif planted("cotangent_in_place") and v.cotangent.shape and v.cotangent.flags.writeable:
                    v.cotangent += c
                else:
                    v.cotangent = v.cotangent + c


def rounded(x, dtype):
    return x.astype(ARRAYS[dtype]).astype(np.float64) if dtype == "f32" else x


def linear_map(forward, vjp):
    """A rule for what is linear in its one real operand."""
    return Rule(forward, lambda a, x, y, dx: forward(a, dx[0], *x[1:]), vjp)


def real(x):
    return x.dtype.kind == "f"


def number(value):
    return float(value) if isinstance(value, str) else value


def listed(value, rank):
    return list(value) if isinstance(value, list) else [value] * rank


STORE = Rule(lambda a, x: rounded(x, a["dtype"]), lambda a, x, y, dx: rounded(dx[0], a["dtype"]),
             lambda a, x, y, g: [rounded(np.asarray(g), a["dtype"])])
