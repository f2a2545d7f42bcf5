"""Operations by name, and how a call becomes nodes."""
import numpy as np

from quarry.ir import Node, wide
from quarry.build import to
from quarry.words import Rejected, Unsupported
from quarry.switch import defect

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


def lowered(op, operands, attributes, packs):
    """The nodes of one call, written into the program's graph: reals are widened first and rounded once at the end."""
    values = Attributes(attributes)
    reals = [x.dtype for x in operands if x is not None and x.real]
    narrow = reals[0] if reals else None
    for k, v in attributes.items():
        if isinstance(v, Node):
            if defect("running_attribute_in_f32") and v.real:
                v = to(v, np.dtype(np.float32))
            values[k] = to(v, wide(narrow or np.dtype(np.float32)))
    inside = [x if x is None or op.raw or not x.real else to(x, wide(x.dtype)) for x in operands]
    found = op.body(values, packs, *inside) if op.operands == "packs" else op.body(values, *inside)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if narrow is not None and not op.typed:
        found = [to(y, narrow) if y.real else y for y in found]
    return found


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
    return lowered(op, operands, filled, packs)
