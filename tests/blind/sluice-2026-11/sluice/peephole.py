"""Rewriting at dispatch: a call that undoes, repeats or absorbs its producer is replaced by a simpler one."""
from collections import Counter

from . import views
from .calls import Call
from .movement import per_axis
from .registry import REAL, TABLE, Entry
from .switch import on
from .tape import lift

TABLE["_same"] = Entry(None, "T", 0, lambda c, v: views.View(v.buf, v.shape, v.strides, v.offset))
TABLE["_zeros_like"] = Entry(lambda c, x: lift(x.a * 0 if x.a.dtype.kind == "i" else 0.0 * (x.a == x.a)))

SYMMETRIC = ("add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or", "logical_xor")
ORDERED = ("sub", "div", "pow", "atan2", "lt", "le", "gt", "ge", "remainder", "floor_divide")
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
WIDENING = {("f32", "f64"), ("i32", "i64")}


def same(name, call):
    return Call("_same", [name], {}, call.results)


def key_of(call):
    """What tells calls apart: operation, operands and attributes, signs of zeros included."""
    operands = list(call.operands)
    if call.operation in SYMMETRIC or call.operation in ORDERED and on("cse_sorts_every_pair"):
        operands = sorted(operands)
    if on("cse_equal_constants"):
        attributes = tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in call.c.items()))
    else:
        attributes = repr(sorted(call.c.items()))
    return call.operation, tuple(operands), attributes


class Peephole:
    """Remembers the producers of a run's values."""

    def __init__(self, values, types, forward, calls, outputs):
        self.values, self.types, self.is_forward = values, types, forward
        self.reads = Counter(n for call in calls for n in call.operands)
        self.reads.update(outputs)
        self.producer, self.seen = {}, {}

    def note(self, call):
        for r in call.results:
            self.producer[r] = call
        if len(call.results) == 1 and not call.operation.startswith("_"):
            self.seen[key_of(call)] = call.results[0]

    def inner(self, call, i, *operations, sole=True):
        """The producer of operand i where it is one of these and what it read is still there.

        Under derivatives nobody else may read what lies between: cotangents would be added in another order.
        """
        if sole and not self.is_forward and self.reads[call.operands[i]] > 1:
            return None
        found = self.producer.get(call.operands[i])
        if found and found.operation in operations and all(n is None or n in self.values for n in found.operands):
            return found
        return None

    def __call__(self, call):
        if self.is_forward and len(call.results) == 1 and key_of(call) in self.seen:
            twin = self.seen[key_of(call)]
            if twin in self.values:
                return same(twin, call)
        rule = getattr(self, "rule_" + call.operation, None)
        return rule(call) if rule else call

    def rule_neg(self, call):
        found = self.inner(call, 0, "neg")
        return same(found.operands[0], call) if found else call

    def rule_abs(self, call):
        found = self.inner(call, 0, "neg")
        return Call("abs", found.operands, {}, call.results) if found else call

    def rule_slice(self, call):
        """A slice of a slice starts where both say, in steps of both."""
        found = self.inner(call, 0, "slice")
        if not found:
            return call
        rank = len(self.values[found.operands[0]].shape)
        inner = [per_axis(found.c[k], rank) for k in ("start", "stop", "step")]
        outer = [per_axis(call.c[k], rank) for k in ("start", "stop", "step")]
        start, stop, step = [], [], []
        for a, d, b, e, f in zip(inner[0], inner[2], *outer):
            sign = 1 if f > 0 else -1
            n = max(0, ((e - b) * sign + abs(f) - 1) // abs(f))
            first = a + b if on("slices_add_starts") else a + b * d
            if n == 0:
                first, last = 0, 0
            else:
                last = first + (n - 1) * f * d + (1 if f * d > 0 else -1)
            start.append(first)
            stop.append(last)
            step.append(f * d)
        return Call("slice", found.operands, {"start": start, "stop": stop, "step": step}, call.results)

    def rule_flip(self, call):
        found = self.inner(call, 0, "flip")
        if found and sorted(found.c["axes"]) == sorted(call.c["axes"]):
            return same(found.operands[0], call)
        return call

    def rule_pad(self, call):
        found = self.inner(call, 0, "pad")
        if not found:
            return call
        rank = len(self.values[found.operands[0]].shape)
        low, high = per_axis(found.c["low"], rank), per_axis(found.c["high"], rank)
        low1, high1 = per_axis(call.c["low"], rank), per_axis(call.c["high"], rank)
        alike = repr(found.c["value"]) == repr(call.c["value"])
        if not alike or min(low + high + low1 + high1, default=0) < 0:
            return call
        return Call("pad", found.operands, {"low": [a + b for a, b in zip(low, low1)],
                                            "high": [a + b for a, b in zip(high, high1)],
                                            "value": call.c["value"]}, call.results)

    def rule_logical_not(self, call):
        """The opposite comparison: of integers only, since of NaN neither holds."""
        found = self.inner(call, 0, *OPPOSITE, sole=False)
        if found and (self.types[found.operands[0]] not in REAL or on("not_less_is_at_least")):
            return Call(OPPOSITE[found.operation], found.operands, {}, call.results)
        return call

    def rule_where(self, call):
        found = self.inner(call, 0, "logical_not", sole=False)
        if not found:
            return call
        c, a, b = found.operands[0], call.operands[1], call.operands[2]
        return Call("where", [c, b, a], {}, call.results)

    def rule_sub(self, call):
        a, b = call.operands
        if a == b and (self.types[a] not in REAL or on("real_minus_itself_is_zero")):
            return Call("_zeros_like", [a], {}, call.results)
        return call

    def rule_maximum(self, call):
        """relu where the other side is a zero of the same shape: values only, its slope at 0 is another."""
        if not (self.is_forward or on("maximum_becomes_relu")):
            return call
        a, b = call.operands
        for x, z, i in ((a, b, 1), (b, a, 0)):
            found = self.inner(call, i, "full", "zeros", "constant", sole=False)
            if found and found.c.get("value", 0) == 0 and self.values[x].shape == self.values[z].shape:
                return Call("relu", [x], {}, call.results)
        return call

    def rule_concat(self, call):
        found = self.inner(call, 0, "split")
        if not found or not all(self.inner(call, i, "split") is found for i in range(len(call.operands))):
            return call
        rank = len(self.values[found.operands[0]].shape)
        alike = list(call.operands) == list(found.results)
        if on("concat_of_any_order"):
            alike = sorted(call.operands) == sorted(found.results)
        if alike and call.c["axis"] % rank == found.c["axis"] % rank:
            return same(found.operands[0], call)
        return call

    def rule_cast(self, call):
        found = self.inner(call, 0, "cast")
        if not found:
            return call
        origin = self.types[found.operands[0]]
        if (origin, found.c["dtype"]) in WIDENING:
            return Call("cast", found.operands, {"dtype": call.c["dtype"]}, call.results)
        return call

    def rule_clamp(self, call):
        found = self.inner(call, 0, "clamp")
        if not found:
            return call
        low, high = max(found.c["low"], call.c["low"]), min(found.c["high"], call.c["high"])
        if low <= high or on("clamps_merge_disjoint"):
            return Call("clamp", found.operands, {"low": low, "high": high}, call.results)
        return call

    def rule_exp(self, call):
        found = self.inner(call, 0, "log_softmax")
        if not found:
            return call
        axis = found.c["axis"]
        return Call("softmax", found.operands, {"axis": axis}, call.results)
