"""Reductions over any axes, and running sums and products."""
import numpy as np

from quarry import build as a
from quarry.build import kept, size_of, total, where
from quarry.ir import constant
from quarry.lowering.axes import axes_of, axis_of, require
from quarry.lower import operation
from quarry.switch import defect


def reducing(f):
    """An operation over axes from a function of (attributes, x, axes) that drops them."""
    def body(at, x):
        axes = axes_of(at.axes, x.rank)
        found = f(at, x, axes)
        return kept(found, axes, x.rank) if at.keepdims else found
    return body


def spread(found, axes, x):
    """A reduced value beside what it was reduced from."""
    return a.broadcast(kept(found, axes, x.rank), x.shape)


def mean_of(x, axes):
    return total(x, axes) / float(size_of(x, axes))


def centred(x, axes):
    return x - spread(mean_of(x, axes), axes, x)


def variance(at, x, axes):
    n = size_of(x, axes)
    if "correction" in at:
        require(0 <= at.correction < n, "0 <= correction and correction < size")
    if defect("variance_counts_last_axis") and len(axes) > 1:
        n = x.shape[axes[-1]]
    d = centred(x, axes)
    return total(d * d, axes) / float(n - at.correction)


def safe_root(v):
    """The root, whose derivative at 0 is 0: it is not asked there, since 0/0 would come back through the choice."""
    flat = v <= 0
    return where(flat, 0.0, a.sqrt(where(flat, 1.0, v)))


def extreme(largest):
    def f(at, x, axes):
        require(size_of(x, axes) > 0, "size > 0")
        if defect("extremum_ties_share") and x.real:
            found = a.detach(a.extremum(x, axes, largest))
            tied = a.eq(x, spread(found, axes, x))
            return total(where(tied, x, 0.0), axes) / total(a.to(tied, x.dtype), axes)
        return a.extremum(x, axes, largest)
    return f


def placed(largest):
    def f(at, x, axes):
        require(size_of(x, axes) > 0, "size > 0")
        return a.position(x, axes, largest)
    return f


def log_sum_exp(at, x, axes):
    if size_of(x, axes) == 0:  # the logarithm of 0, which nothing moves
        return constant(np.full([n for i, n in enumerate(x.shape) if i not in axes], -np.inf, x.dtype))
    top = a.top(x, axes)
    shift = where(a.isinf(top), 0.0, top)
    return shift + a.log(total(a.exp(x - spread(shift, axes, x)), axes))


def magnitude(at, x, axes):
    if at.ord == "two":
        return safe_root(total(x * x, axes))
    if at.ord == "one":
        return total(a.magnitude(x), axes)
    if size_of(x, axes) == 0:
        return constant(np.zeros([n for i, n in enumerate(x.shape) if i not in axes], x.dtype))
    return a.extremum(a.magnitude(x), axes)


SIMPLE = {"sum": lambda at, x, axes: total(x, axes), "mean": lambda at, x, axes: mean_of(x, axes),
          "prod": lambda at, x, axes: a.product(x, axes), "any": lambda at, x, axes: a.some(x, axes),
          "all": lambda at, x, axes: a.every(x, axes), "max": extreme(True), "min": extreme(False),
          "argmax": placed(True), "argmin": placed(False), "logsumexp": log_sum_exp}
for _name, _f in SIMPLE.items():
    operation(_name, axes="all", keepdims=False)(reducing(_f))
operation("var", axes="all", correction=1, keepdims=False)(reducing(variance))
operation("std", axes="all", correction=1, keepdims=False)(
    reducing(lambda at, x, axes: safe_root(variance(at, x, axes))))
operation("norm", axes="all", ord="two", keepdims=False)(reducing(magnitude))


def running(f, neutral):
    """f along one axis, which stands last while it works; exclusive moves what came out by one place."""
    def body(at, x):
        axis = axis_of(at.axis, x.rank)
        rows = a.moved(x, [axis], [x.rank - 1])
        if at.exclusive and rows.shape[-1]:
            low = [0] * (x.rank - 1) + [-1 if at.reverse else 1]
            rows = a.padded(rows, low, [-n for n in low], neutral)
        return a.moved(f(rows, at.reverse), [x.rank - 1], [axis])
    return body


operation("cumsum", axis=-1, reverse=False, exclusive=False)(running(a.cumulative_sum, 0))
operation("cumprod", axis=-1, reverse=False, exclusive=False)(
    running(a.cumulative_product, 0 if defect("exclusive_product_starts_at_zero") else 1))
