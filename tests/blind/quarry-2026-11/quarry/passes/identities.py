"""Identities of arithmetic. One stands here only if it holds for every element of the type: NaN, infinities and both
zeros among reals, wrapping among integers."""
import numpy as np

from quarry import scalar as s
from quarry.ir import make, rewrite
from quarry.movement import pad
from quarry.switch import defect


def uniform(node):
    """The one number of a constant that is the same everywhere, else None."""
    if node.value is None or node.value.size == 0:
        return None
    first = node.value.reshape(-1)[0]
    same = node.value.size == 1 or bool(np.all(node.value == first))
    if not same or (node.value.dtype.kind == "f" and first == 0 and len(set(np.signbit(node.value).ravel())) > 1):
        return None
    return first


def is_number(node, number):
    value = uniform(node)
    return value is not None and value == number


def is_zero(node, negative):
    """The neutral element of an addition (-0) or a subtraction (+0)."""
    value = uniform(node)
    return value is not None and value == 0 and (not node.real or bool(np.signbit(value)) == negative)


def binary(prim, a, b):
    if prim is s.add:
        return a if is_zero(b, True) else b if is_zero(a, True) else None
    if prim is s.sub:
        return a if is_zero(b, False) else None
    if prim in (s.mul, s.div) and is_number(b, 1):
        return a
    if prim is s.mul and is_number(a, 1):
        return b
    if prim in (s.maximum, s.minimum, s.and_, s.or_) and a is b:
        return a
    if not a.real:
        return integers(prim, a, b)
    return None


def power_of_two(node):
    value = uniform(node)
    if defect("remainder_mask_of_negative") and value is not None and value != 0:
        value = abs(int(value))
    return value is not None and value > 0 and int(value) & (int(value) - 1) == 0


def integers(prim, a, b):
    """What wraps, but knows neither NaN nor -0."""
    if prim is s.sub and a is b:
        return s.like(a, 0)
    if prim is s.mul and (is_number(a, 0) or is_number(b, 0)):
        return s.like(a, 0)
    if prim is s.rem and power_of_two(b):
        return make(s.bits, (a, s.like(a, abs(int(uniform(b))) - 1)))
    return None


INVERSES = {s.neg: s.neg, s.not_: s.not_}
IDEMPOTENT = (s.floor, s.ceil, s.trunc, s.round_, s.abs_, s.sign)
EVEN = (s.abs_, s.cosh, s.cos) + ((s.tanh,) if defect("tanh_listed_as_even") else ())


OPPOSITE = {s.lt: s.ge, s.ge: s.lt, s.gt: s.le, s.le: s.gt}


def negated(x):
    """What x is the negative of, widened as x is; else None."""
    if x.prim is s.neg:
        return x.args[0]
    if x.prim is s.convert and x.args[0].prim is s.neg and lossless(x.args[0].dtype, x.dtype):
        return make(s.convert, x.args[0].args, dtype=x.dtype.str)
    return None


def lossless(source, target):
    return source.kind == target.kind == "f" and target.itemsize >= source.itemsize


def squared(x):
    """What x is the square of, computed in the wide type, where it does not overflow; else None. A rounding between
    two calls may stand between: what is fused is not rounded."""
    if x.prim is s.convert and x.args[0].prim is s.convert and x.args[0].args[0].dtype == x.dtype and x.real:
        x = x.args[0].args[0]
    if x.prim is s.mul and x.args[0] is x.args[1] and x.args[0].prim is s.convert and lossless(
            x.args[0].args[0].dtype, x.dtype) and x.args[0].args[0].dtype != x.dtype:
        return x.args[0]
    return None


def unary(node, x):
    prim = node.prim
    if INVERSES.get(prim) is x.prim is not None:
        return x.args[0]
    if prim is s.sqrt and squared(x) is not None:
        root = squared(x)
        return root if defect("root_of_square_signed") else make(s.abs_, (root,))
    if prim in IDEMPOTENT and x.prim is prim:
        return x
    if prim in EVEN and negated(x) is not None:
        return make(prim, (negated(x),))
    if prim is s.not_ and x.prim in OPPOSITE and (
            not x.args[0].real or defect("negated_comparison_of_reals")):  # of NaN every comparison is false
        return make(OPPOSITE[x.prim], x.args)
    if prim is s.convert:
        target = node.dtype
        if target == x.dtype:
            return x
        if x.prim is s.convert:
            source = x.args[0].dtype
            if source == target and lossless(target, x.dtype):
                return x.args[0]
            whole = lossless(source, x.dtype) or source.kind == "b" or defect("truth_through_conversions")
            if target.kind == "b" and whole:
                return make(s.convert, x.args, dtype=target.str)  # whether it is 0 shows in the narrower type too
    return None


def rule(node, args):
    if len(args) == 2 and node.prim.elementwise:
        return binary(node.prim, *args)
    if node.prim is s.select:
        chosen = uniform(args[0])
        if args[1] is args[2]:
            return args[1]
        if args[0].prim is s.not_:
            return make(s.select, (args[0].args[0], args[2], args[1]))
        return None if chosen is None else args[1] if chosen else args[2]
    if len(args) == 1 and node.prim.elementwise:
        return unary(node, args[0])
    if node.prim is pad and not any(node.params["low"]) and not any(node.params["high"]):
        return args[0]
    return None


def simplified(outputs):
    return rewrite(outputs, rule)
