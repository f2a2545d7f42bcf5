"""Reductions. Long ones are split into parts of PART elements, whose results are joined."""
import math

import numpy as np

from .rule import Op, axes_of
from .switch import planted

PART = 16


class Rows:
    """An operand with the reduced axes last and made one."""

    def __init__(self, c, x):
        self.shape = x.shape
        self.axes = axes_of(c, x.ndim)
        self.kept = tuple(k for k in range(x.ndim) if k not in self.axes)
        self.order = self.kept + self.axes
        if planted("reduced_axes_sorted"):
            self.order = self.kept + tuple(sorted(self.axes))
        self.n = math.prod(x.shape[k] for k in self.axes)
        self.rest = tuple(x.shape[k] for k in self.kept)
        keep = c.a.get("keepdims", False)
        self.out = tuple(1 if k in self.axes else n for k, n in enumerate(x.shape)) if keep else self.rest
        self.rows = self.of(x)

    def of(self, x):
        return np.transpose(x, self.order).reshape(self.rest + (self.n,))

    def result(self, y):
        return np.asarray(y).reshape(self.out)

    def column(self, g):
        """A cotangent of the result beside the rows."""
        return g.reshape(self.rest + (1,))

    def back(self, rows):
        full = np.broadcast_to(rows, self.rest + (self.n,)).reshape([self.shape[k] for k in self.order])
        return np.transpose(full, np.argsort(self.order))


def parts(rows):
    n = rows.shape[-1]
    return [rows[..., s:s + PART] for s in range(0, n, PART)]


def split(rows, f, empty):
    """f over each part, then over what the parts gave."""
    pieces = parts(rows)
    if not pieces:
        return np.full(rows.shape[:-1], empty, rows.dtype)
    if len(pieces) == 1:
        return f(pieces[0])
    return f(np.stack([f(p) for p in pieces], -1))


def add_up(x):
    return np.add.reduce(x, axis=-1)


def sum_rows(rows):
    if planted("sum_loses_ragged_tail") and rows.shape[-1] > 2 * PART:
        whole = rows.shape[-1] // PART * PART
        return split(rows[..., :whole], add_up, 0)
    return split(rows, add_up, 0)


def sum_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(sum_rows(r.rows))]


def linear(f):
    """A rule whose tangent is its own value."""
    return lambda c, ts: [f(c, ts[0])]


def sum_of(c, x):
    r = Rows(c, x)
    return r.result(sum_rows(r.rows))


def mean_of(c, x):
    r = Rows(c, x)
    return r.result(sum_rows(r.rows) / np.asarray(r.n, x.dtype))


def sum_vjp(c, gs):
    r = Rows(c, c.x[0])
    return [r.back(r.column(gs[0]))]


def mean_vjp(c, gs):
    r = Rows(c, c.x[0])
    n = r.n
    if planted("mean_vjp_counts_last_axis") and len(r.axes) > 1:
        n = r.shape[r.axes[-1]]
    return [r.back(r.column(gs[0]) / np.asarray(n, gs[0].dtype))]


Op("sum", "call", sum_forward, linear(sum_of), sum_vjp, saves="")
Op("mean", "call", lambda c: [mean_of(c, c.x[0])], linear(mean_of), mean_vjp, saves="")


def others(rows):
    """Of each element the product of all others of its row."""
    left = np.ones_like(rows)
    left[..., 1:] = np.cumprod(rows[..., :-1], -1)
    right = np.ones_like(rows)
    right[..., :-1] = np.cumprod(rows[..., :0:-1], -1)[..., ::-1]
    return left * right


def prod_slope(rows):
    if planted("prod_slope_one_zero") and rows.shape[-1]:
        some = np.where(rows == 0, 1, rows)
        rest = np.multiply.reduce(some, axis=-1)[..., None]
        none = np.all(rows != 0, axis=-1, keepdims=True)
        return np.where(rows == 0, rest, np.where(none, rest / some, 0))
    return others(rows)


def prod_jvp(c, ts):
    r = Rows(c, c.x[0])
    return [r.result(add_up(prod_slope(r.rows) * r.of(ts[0])))]


def prod_vjp(c, gs):
    r = Rows(c, c.x[0])
    return [r.back(prod_slope(r.rows) * r.column(gs[0]))]


def prod_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(split(r.rows, lambda p: np.multiply.reduce(p, axis=-1), 1))]


Op("prod", "call", prod_forward, prod_jvp, prod_vjp)


def place(rows, largest):
    """The position of the first extremum, from the extrema of the parts; NaN comes before all."""
    f = np.argmax if largest else np.argmin
    at = [f(p, axis=-1) for p in parts(rows)]
    best = np.stack([np.take_along_axis(p, i[..., None], -1)[..., 0] for p, i in zip(parts(rows), at)], -1)
    part = f(best, axis=-1)
    inside = np.take_along_axis(np.stack(at, -1), part[..., None], -1)[..., 0]
    return part * PART + inside


def extremum(largest):
    f = np.maximum if largest else np.minimum

    def forward(c):
        r = Rows(c, c.x[0])
        if planted("max_starts_from_zero") and largest and len(parts(r.rows)) > 1 and r.rows.dtype.kind == "f":
            n = -r.n % PART
            padded = np.concatenate([r.rows, np.zeros(r.rest + (n,))], -1)
            return [r.result(f.reduce(padded, axis=-1))]
        return [r.result(split(r.rows, lambda p: f.reduce(p, axis=-1), 0))]

    def at_first(r):
        index = place(r.rows, largest)
        return np.arange(r.n) == index[..., None]

    def jvp(c, ts):
        r = Rows(c, c.x[0])
        return [r.result(np.where(at_first(r), r.of(ts[0]), 0).sum(-1))]

    def vjp(c, gs):
        r = Rows(c, c.x[0])
        mask = at_first(r)
        if planted("max_vjp_to_all_ties") and largest:
            top = np.maximum.reduce(r.rows, axis=-1)[..., None]
            return [r.back(np.where(r.rows == top, r.column(gs[0]), 0))]
        return [r.back(np.where(mask, r.column(gs[0]), 0))]
    return forward, jvp, vjp


def arg(largest):
    def forward(c):
        r = Rows(c, c.x[0])
        return [r.result(place(r.rows, largest)).astype(np.int64)]
    return forward


def no_jvp(c, ts):
    return [None] * len(c.y)


def no_vjp(c, gs):
    return [None] * len(c.x)


Op("max", "call", *extremum(True))
Op("min", "call", *extremum(False))
Op("argmax", "call", arg(True), no_jvp, no_vjp, lambda c: "i64")
Op("argmin", "call", arg(False), no_jvp, no_vjp, lambda c: "i64")


def any_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(split(r.rows, lambda p: np.logical_or.reduce(p, axis=-1), False))]


def all_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(split(r.rows, lambda p: np.logical_and.reduce(p, axis=-1), True))]


Op("any", "call", any_forward, no_jvp, no_vjp)
Op("all", "call", all_forward, no_jvp, no_vjp)


def moments(c, r):
    """Deviations from the mean, and the variance."""
    n = np.asarray(r.n, r.rows.dtype)
    d = r.rows - (add_up(r.rows) / n)[..., None]
    correction = c.a["correction"]
    return d, add_up(d * d) / (n - correction), n - c.a["correction"]


def var_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(moments(c, r)[1])]


def var_jvp(c, ts):
    r = Rows(c, c.x[0])
    d, _, n = moments(c, r)
    return [r.result(add_up(2 * d * r.of(ts[0])) / n)]


def var_vjp(c, gs):
    r = Rows(c, c.x[0])
    d, _, n = moments(c, r)
    return [r.back(2 * d * r.column(gs[0]) / n)]


def root(v):
    return np.where(v <= 0, 0, np.sqrt(v))


def std_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(root(moments(c, r)[1]))]


def std_jvp(c, ts):
    r = Rows(c, c.x[0])
    d, v, n = moments(c, r)
    e = add_up(2 * d * r.of(ts[0])) / n
    if planted("std_jvp_flat_rows"):
        return [r.result(e / (2 * np.sqrt(v)))]
    return [r.result(np.where(v <= 0, 0, e / (2 * np.sqrt(v))))]


def std_vjp(c, gs):
    r = Rows(c, c.x[0])
    d, v, n = moments(c, r)
    g = gs[0].reshape(r.rest)
    s = np.where(v <= 0, 0, g / (2 * np.sqrt(v)))
    return [r.back(2 * d * s[..., None] / (r.n - 1 if planted("std_vjp_correction_one") else n))]


Op("var", "call", var_forward, var_jvp, var_vjp, saves="x", extended=True)
Op("std", "call", std_forward, std_jvp, std_vjp, saves="x", extended=True)


def lse_shift(rows):
    if not rows.shape[-1]:
        return np.zeros(rows.shape[:-1], rows.dtype)
    top = np.maximum.reduce(rows, axis=-1)
    if planted("logsumexp_infinite_shift"):
        return top
    return np.where(np.isinf(top), 0, top)


def lse_rows(rows):
    shift = lse_shift(rows)
    return shift + np.log(add_up(np.exp(rows - shift[..., None])))


def lse_weights(r):
    y = lse_rows(r.rows)
    return np.exp(r.rows - y[..., None])


def lse_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(lse_rows(r.rows))]


def lse_jvp(c, ts):
    r = Rows(c, c.x[0])
    return [r.result(add_up(lse_weights(r) * r.of(ts[0])))]


def lse_vjp(c, gs):
    r = Rows(c, c.x[0])
    return [r.back(lse_weights(r) * r.column(gs[0]))]


Op("logsumexp", "call", lse_forward, lse_jvp, lse_vjp, saves="x", extended=True)


def norm_rows(c, rows):
    kind = c.a["ord"]
    if kind == "two":
        return root(add_up(rows * rows))
    if kind == "one":
        return add_up(np.abs(rows))
    return np.maximum.reduce(np.abs(rows), axis=-1) if rows.shape[-1] else np.zeros(rows.shape[:-1], rows.dtype)


def norm_slope(c, r):
    kind, rows = c.a["ord"], r.rows
    if kind == "two":
        s = add_up(rows * rows)[..., None]
        return np.where(s <= 0, 0, rows / np.sqrt(s))
    if kind == "one":
        return np.sign(rows)
    if not r.n:
        return rows
    size = np.abs(rows)
    first = np.argmax(size, axis=-1)
    return np.where(np.arange(r.n) == first[..., None], np.sign(rows), 0)


def norm_forward(c):
    r = Rows(c, c.x[0])
    return [r.result(norm_rows(c, r.rows))]


def norm_jvp(c, ts):
    r = Rows(c, c.x[0])
    if c.a["ord"] == "two":
        s = add_up(r.rows * r.rows)
        return [r.result(np.where(s <= 0, 0, add_up(r.rows * r.of(ts[0])) / np.sqrt(s)))]
    return [r.result(add_up(norm_slope(c, r) * r.of(ts[0])))]


def norm_vjp(c, gs):
    r = Rows(c, c.x[0])
    slope = norm_slope(c, r) * r.column(gs[0])
    return [r.back(slope)]


Op("norm", "call", norm_forward, norm_jvp, norm_vjp, saves="x")
