"""One call: operands widened, the kernel of the table, results rounded once; and its way back or forward."""
import numpy as np

from . import views
from .registry import NAMES, REAL, STORED, TABLE, WIDE, Unsupported, attributes
from .switch import on
from .tape import Var, backward

ENDS = {"i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1)}


def name_of(view):
    return NAMES[view.dtype]


def stored(a, dtype):
    """An array as the type that a result has: reals rounded to nearest or cut towards 0, integers wrapped."""
    if a.dtype.kind == "f" and dtype in ENDS:
        if on("cast_overflow_is_lowest"):
            low = ENDS[dtype][0]
            good = np.abs(a) < 2.0 ** (31 if dtype == "i32" else 63)
            return np.where(good, np.trunc(np.where(good, a, 0)), low).astype(STORED[dtype])
        low, high = ENDS[dtype]
        whole = np.trunc(np.where(np.isnan(a), 0, a)).astype(np.longdouble)
        inner = np.where((whole > low) & (whole < high), whole, 0).astype(np.int64)
        return np.where(whole <= low, low, np.where(whole >= high, high, inner)).astype(STORED[dtype])
    if a.dtype.kind == "i" and dtype in REAL:
        return a.astype(np.longdouble).astype(STORED[dtype])
    if a.dtype.kind != "b" and dtype == "bool":
        return a != 0
    return a.astype(STORED[dtype])


def wide(view):
    return np.array(view.array(), WIDE[name_of(view)], order="C")


class Call:
    """A call of a program with its attributes read."""

    def __init__(self, operation, operands, given, results):
        self.operation, self.operands, self.results = operation, operands, results
        self.c = attributes(given)

    def entry(self):
        if self.operation not in TABLE:
            raise Unsupported("operation", f"{self.operation} is not offered")
        return TABLE[self.operation]

    def result_type(self, operands):
        kind = self.entry().result
        if kind == "bool":
            return "bool"
        if kind == "int":
            return "i64"
        if kind == "dtype":
            dtype = self.c["dtype"]
            if dtype not in STORED:
                raise Unsupported("dtype", f"{dtype} is not offered")
            return dtype
        return name_of(operands[self.entry().t])

    def prepare(self, operands):
        dtype = self.result_type(operands)
        self.c.t = dtype
        self.c.w = WIDE[dtype] if dtype in REAL else np.float64
        return dtype

    def variables(self, operands, needs=None, dots=None):
        found = []
        for i, v in enumerate(operands):
            if v is None:
                found.append(None)
                continue
            dot = None if dots is None or dots[i] is None else wide(dots[i])
            found.append(Var(wide(v), bool(needs and needs[i]), dot))
        return found

    def kernel(self, xs):
        ys = self.entry().fn(self.c, *xs)
        return ys if isinstance(ys, tuple) else (ys,)

    def view(self, v):
        ys = self.entry().views(self.c, v)
        return ys if isinstance(ys, tuple) else (ys,)

    def forward(self, operands):
        if self.entry().views:
            return self.view(operands[0])
        dtype = self.prepare(operands)
        return tuple(views.of(stored(y.a, dtype)) for y in self.kernel(self.variables(operands)))

    def pushed(self, operands, dots):
        """Results and their tangents, None where nothing moves."""
        if self.entry().views:
            return self.view(operands[0]), (self.view(dots[0]) if dots[0] is not None else (None,) * len(self.results))
        dtype = self.prepare(operands)
        ys = self.kernel(self.variables(operands, dots=dots))
        moved = [None if y.dot is None or dtype not in REAL else views.of(stored(np.asarray(y.dot), dtype)) for y in ys]
        return tuple(views.of(stored(y.a, dtype)) for y in ys), moved

    def recorded(self, operands, needs):
        """Results and a closure from their cotangents to those of the operands, None where nothing flows."""
        if self.entry().views:
            return self.view(operands[0]), lambda gs: [self._view_back(operands[0], gs)]
        dtype = self.prepare(operands)
        xs = self.variables(operands, needs=needs)
        ys = self.kernel(xs)

        def back(gs):
            if self.operation == "add" and xs[0].shape == xs[1].shape:
                return [gs[0] if n else None for n in needs]
            seeds = [None if g is None else g.astype(WIDE[dtype]) for g in gs]
            grads = backward(ys, seeds)
            return [None if x is None or id(x) not in grads else
                    np.asarray(stored(np.asarray(grads[id(x)]), name_of(v))) for x, v in zip(xs, operands)]
        return tuple(views.of(stored(y.a, dtype)) for y in ys), back

    def _view_back(self, v, gs):
        """Zeros under the operand's shape; the same views of them collect the cotangents in place."""
        zeros = views.of(np.zeros(v.shape, v.dtype))
        for target, g in zip(self.view(zeros), gs):
            if g is not None:
                views.add_into(target, g)
        return zeros.array()
