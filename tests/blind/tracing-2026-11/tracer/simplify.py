"""What is simplified while a graph is traced. An identity stands here only if it holds for every element of the type:
NaN, infinities and both zeros among reals, wrapping among integers."""
import numpy as np

from tracer.faults import fault
from tracer.movement import expand, pad, permute, reshape, slice_, take_slice
from tracer import scalar

MOVES = (reshape, permute, expand, slice_)
PURE = {p.name for p in vars(scalar).values() if hasattr(p, "impl")}


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


def negative_zero(node):
    value = uniform(node)
    return value is not None and value == 0 and bool(np.signbit(value))


def folded(trace, prim, args, params):
    """Arithmetic on constants, done once while tracing."""
    if prim in (reshape, expand) and args[0].value is not None:
        return trace.constant(np.broadcast_to(args[0].value.reshape(params["shape"]) if prim is reshape
                                              else args[0].value, params["shape"]))
    if prim.name not in PURE or any(a.value is None for a in args) or not args:
        return None
    with np.errstate(all="ignore"):
        found = np.asarray(prim.impl(*[a.value for a in args], **params))
    _, dtype = prim.shape(*args, **params)
    return trace.constant(found.astype(dtype, copy=False))


def arithmetic(trace, prim, args):
    a, b = args
    if fault("identity_times_zero") and prim is scalar.mul and is_number(a, 0):
        return a
    if fault("identity_plus_zero") and prim is scalar.add and is_number(b, 0):
        return a
    if fault("identity_minus_itself") and prim is scalar.sub and a is b:
        return scalar.like(a, 0)
    if fault("identity_equal_to_itself") and prim is scalar.eq and a is b:
        return trace.constant(np.ones(a.shape, bool))
    if prim is scalar.add and (negative_zero(b) if b.real else is_number(b, 0)):
        return a
    if prim is scalar.sub and is_number(b, 0) and not (b.real and negative_zero(b)):
        return a
    if prim in (scalar.mul, scalar.div) and is_number(b, 1):
        return a
    if prim is scalar.mul and is_number(a, 1):
        return b
    return None


def composed(trace, prim, args, params):
    """Movements that do nothing, and movements of movements."""
    x, shape = args[0], prim.shape(*args, **params)[0]
    if prim in (reshape, expand) and shape == x.shape:
        return x
    if prim is permute and params["order"] == tuple(range(x.rank)):
        return x
    if prim is permute and x.prim is permute:
        first, second = x.params["order"], params["order"]
        if fault("permutations_composed_backwards"):
            first, second = second, first
        order = tuple(first[i] for i in second)
        return trace.emit(permute, x.args, order=order)
    if prim is reshape and x.prim is reshape:
        return trace.emit(reshape, x.args, shape=shape)
    if prim is slice_ and x.prim is slice_:
        outer = (1,) * x.rank if fault("slice_of_slice_start_unscaled") else x.params["step"]
        start = [s + k * a for s, k, a in zip(x.params["start"], outer, params["start"])]
        step = [k * m for k, m in zip(x.params["step"], params["step"])]
        return take_slice(x.args[0], start, step, shape)
    if prim is slice_ and shape == x.shape and not any(params["start"]) and all(k == 1 for k in params["step"]):
        return x
    return None


def lossless(source, target):
    if fault("convert_pair_by_size"):
        return source.itemsize <= target.itemsize
    return source.kind == target.kind == "f" and target.itemsize >= source.itemsize


def simplified(trace, prim, args, params):
    found = folded(trace, prim, args, params)
    if found is not None:
        return found
    if len(args) == 2:
        found = arithmetic(trace, prim, args)
    elif prim in MOVES:
        found = composed(trace, prim, args, params)
    elif prim is pad and not any(params["low"]) and not any(params["high"]):
        found = args[0]
    elif prim is scalar.neg and args[0].prim is scalar.neg:
        found = args[0].args[0]
    elif prim is scalar.not_ and args[0].prim is scalar.not_:
        found = args[0].args[0]
    elif prim is scalar.select:
        chosen = uniform(args[0])
        found = args[1] if args[1] is args[2] else None if chosen is None else args[1] if chosen else args[2]
    elif prim is scalar.convert:
        x, dtype = args[0], np.dtype(params["dtype"])
        if dtype == x.dtype:
            found = x
        elif x.prim is scalar.convert and x.args[0].dtype == dtype and lossless(dtype, x.dtype):
            found = x.args[0]
    return found
