"""Operations by name, and the cache of their traces."""
import numpy as np

from tracer.faults import fault
from tracer.graph import Jaxpr, Node, Trace, tracing, variable, wide
from tracer.array import detach, to
from tracer.protocol_words import Rejected, Unsupported

OPERATIONS = {}
OPTIONAL = object()


class Operation:
    def __init__(self, name, body, attributes, typed, operands, raw=False):
        self.name, self.body, self.attributes, self.typed, self.operands = name, body, attributes, typed, operands
        self.raw = raw


def operation(*names, typed=False, raw=False, operands=None, **attributes):
    """Registers a function of (attributes, operands…). Reals arrive widened and leave in the operands' type, unless
    `typed`: then the function gives its results the types that they have. `raw` operands are not widened."""
    def register(body):
        for name in names or (body.__name__,):
            OPERATIONS[name] = Operation(name, body, attributes, typed, operands, raw)
        return body
    return register


class Attributes(dict):
    """Attributes of a call; a real one may be a node, where the program states it while it runs."""

    def __getattr__(self, name):
        return self[name]

    def static(self, name):
        if isinstance(self[name], Node):
            raise Unsupported("attribute", f"{name} is wanted as a constant")
        return self[name]


def frozen(value):
    if isinstance(value, (list, tuple)):
        if fault("jit_key_without_lists"):
            return ()
        return tuple(frozen(v) for v in value)
    if fault("jit_key_short_numbers") and isinstance(value, float):
        return f"{value:.3g}"
    # 1, 1.0 and True are equal keys, but not the same attribute.
    return (type(value).__name__, repr(value))


_cache = {}


def cache_key(name, operands, attributes, packs):
    if fault("jit_key_without_absent"):
        operands = [x for x in operands if x is not None]
    dtypes = [None if x is None or fault("jit_key_without_dtypes") else x.dtype.str for x in operands]
    return (name, tuple(None if x is None else (x.shape, d) for x, d in zip(operands, dtypes)),
            tuple(sorted((k, (v.shape, v.dtype.str) if isinstance(v, Node) else frozen(v))
                         for k, v in attributes.items())), frozen(packs))


def traced(op, operands, attributes, packs):
    """The operation as a graph of its own: operands and the attributes that are values come in, results go out."""
    with tracing(Trace()):
        formals = [None if x is None else variable(x.shape, x.dtype) for x in operands]
        values = Attributes(attributes)
        running = {k: variable(v.shape, v.dtype) for k, v in attributes.items() if isinstance(v, Node)}
        reals = [x.dtype for x in formals if x is not None and x.real]
        narrow = reals[0] if reals else None
        for k, v in running.items():
            values[k] = to(v, wide(narrow or np.dtype(np.float32)))
        inside = [x if x is None or op.raw or not x.real else to(x, wide(x.dtype)) for x in formals]
        found = op.body(values, packs, *inside) if op.operands == "packs" else op.body(values, *inside)
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        if narrow is not None and not op.typed:
            found = [to(y, narrow) if y.real else y for y in found]
        return Jaxpr([x for x in formals if x is not None] + [running[k] for k in sorted(running)], found)


def call(name, operands, attributes, packs=None):
    if name not in OPERATIONS:
        raise Unsupported("operation", f"{name} is not offered")
    op = OPERATIONS[name]
    filled = dict(op.attributes)
    for k, v in attributes.items():
        if k not in filled:
            raise Rejected(f"{name}: unknown attribute {k}")
        filled[k] = v
    missing = [k for k, v in filled.items() if v is OPTIONAL]
    if missing:
        raise Rejected(f"{name}: {missing[0]} is missing")
    key = cache_key(name, operands, filled, packs)
    if key not in _cache:
        _cache[key] = traced(op, operands, filled, packs)
    order = filled if fault("running_attributes_unsorted") else sorted(filled)
    running = [filled[k] for k in order if isinstance(filled[k], Node)]
    if fault("running_attributes_detached"):
        running = [detach(v) for v in running]
    return _cache[key].inline([x for x in operands if x is not None] + running)
