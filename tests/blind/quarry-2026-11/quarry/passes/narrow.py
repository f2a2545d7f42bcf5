"""Operations that are exact in every type need not be widened: narrowed(f(widened(x))) is f(x)."""
from quarry import scalar as s
from quarry.ir import constant, make, rewrite
from quarry.passes.identities import uniform

EXACT = (s.neg, s.abs_, s.sign, s.floor, s.ceil, s.trunc, s.round_, s.maximum, s.minimum, s.select)
TESTS = (s.eq, s.ne, s.lt, s.le, s.gt, s.ge, s.isnan, s.isinf, s.isfinite)


def narrower(a, dtype):
    """The operand in the narrow type, None if it is not there without rounding."""
    if a.prim is s.convert and a.args[0].dtype == dtype and a.real:
        return a.args[0]
    if not a.real:
        return a
    if uniform(a) is not None:
        value = a.value.astype(dtype)
        return constant(value) if (value == a.value).all() else None
    return None


def widens(a):
    return a.real and a.args[0].real and a.dtype.itemsize > a.args[0].dtype.itemsize


def source(args):
    """The real type that the operands were widened from, if it is one."""
    types = {a.args[0].dtype for a in args if a.prim is s.convert and widens(a)}
    return types.pop() if len(types) == 1 else None


def rule(node, args):
    if node.prim is s.convert and args[0].prim in EXACT:
        inner = args[0]
        dtype = source(inner.args)
        if dtype is None or dtype != node.dtype:
            return None
    elif node.prim in TESTS:
        inner, dtype = node, source(args)
        if dtype is None:
            return None
    else:
        return None
    operands = [narrower(a, dtype) for a in (args if inner is node else inner.args)]
    if any(a is None for a in operands):
        return None
    return make(inner.prim, operands, **inner.params)


def narrowed(outputs):
    return rewrite(outputs, rule)
