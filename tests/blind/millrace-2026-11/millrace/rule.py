"""What the library knows of an operation: how it computes, and its two derivatives."""
from .tensors import Unsupported, number, wide_type

OPS = {}


class Op:
    """kind `map` is elementwise and may be fused, `view` moves without copying where it can, `call` is the rest.

    `saves` names what the backward rule reads: operands (x), results (y) or nothing.
    """

    def __init__(self, name, kind, forward, jvp=None, vjp=None, result=None, saves="xy", extended=False):
        self.name, self.kind, self.forward, self.jvp, self.vjp = name, kind, forward, jvp, vjp
        self.result, self.saves, self.extended = result, saves, extended
        OPS[name] = self


class Context:
    """One call while it is computed or differentiated. `x` are the operands and `y` the results at the wide type."""

    def __init__(self, op, attributes, dtypes, packs=None):
        self.op, self.a, self.dtypes, self.packs = op, attributes, dtypes, packs
        self.x, self.y, self.views, self.wanted = None, None, None, None
        self.memo = {}
        self.plans = {}
        self.running = {}

    @property
    def real(self):
        """The storage type of the call's reals."""
        for d in self.dtypes:
            if d in ("f32", "f64"):
                return d
        return self.a.get("dtype", "f32")

    @property
    def wide(self):
        return wide_type(self.real, self.op.extended)

    def result_dtypes(self, count):
        found = self.op.result(self) if self.op.result else next(d for d in self.dtypes if d)
        return list(found) if isinstance(found, (tuple, list)) else [found] * count


def attributes_of(call):
    """Plain numbers, and by name those that are scalars of the program."""
    plain, running = {}, {}
    for name, value in (call.get("attributes") or {}).items():
        if isinstance(value, dict):
            running[name] = value["value"]
        elif isinstance(value, list):
            plain[name] = [number(v) for v in value]
        else:
            plain[name] = number(value)
    return plain, running


def per_axis(value, count):
    return list(value) if isinstance(value, list) else [value] * count


def axes_of(c, rank, name="axes"):
    return tuple(k % rank if rank else k for k in c.a[name])


def axis_of(c, rank, name="axis"):
    return c.a[name] % max(1, rank)


def unbroadcast(g, shape):
    """Adds up what a broadcast has repeated."""
    shape = tuple(shape)
    if g.shape == shape:
        return g
    lead = g.ndim - len(shape)
    g = g.sum(axis=tuple(range(lead))) if lead else g
    ones = tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1)
    return g.sum(axis=ones, keepdims=True) if ones else g


def summed(parts):
    """The sum of those that are there."""
    total = None
    for p in parts:
        if p is not None:
            total = p if total is None else total + p
    return total


def need(condition, what, why):
    if not condition:
        raise Unsupported(what, why)
