"""Losses. Most are lowered to the tape; those of classes have rules of their own."""
import numpy as np

from . import tape as T
from .rule import Op, axis_of
from .switch import planted


def reduced(a, each, count=None):
    how = a["reduction"]
    if how == "none":
        return each
    if not each.v.size and how == "mean":
        return T.Var(np.asarray(np.nan))
    s = T.total(each)
    return s if how == "sum" else s / (each.v.size if count is None else count)


@T.lowered("mse")
def mse(c, a, x, t):
    d = x - t
    return reduced(a, d * d)


@T.lowered("l1")
def l1(c, a, x, t):
    return reduced(a, T.absolute(x - t))


@T.lowered("huber")
def huber(c, a, x, t):
    d, delta = x - t, a["delta"]
    size = np.abs(d.v)
    outer = size - delta / 2 if planted("huber_outer_without_delta") else delta * (size - delta / 2)
    each = np.where(size > delta, outer, d.v * d.v / 2)
    return reduced(a, T.pointwise(d, each, lambda: np.where(size > delta, delta * np.sign(d.v), d.v)))


@T.lowered("smooth_l1")
def smooth_l1(c, a, x, t):
    d, beta = x - t, a["beta"]
    size = np.abs(d.v)
    far = size >= beta
    under = beta if beta else 1.0
    each = np.where(far, size - beta / 2, d.v * d.v / (2 * under))
    return reduced(a, T.pointwise(d, each, lambda: np.where(far, np.sign(d.v), d.v / under)))


@T.lowered("hinge")
def hinge(c, a, x, t):
    m = 1 - t * x
    zero = m.v <= 0
    return reduced(a, T.where(zero, 0.0, m))


@T.lowered("pinball")
def pinball(c, a, x, t):
    d, q = t - x, a["quantile"]
    below = (q - 1) * d
    return reduced(a, T.where(d.v > 0, q * d, T.where(d.v == 0, 0.0, below)))


def softplus_parts(x):
    """softplus(-x) and softplus(x); their maps keep the two terms of the branch with x in it apart."""
    v = x.v
    low, high = T.LOGISTIC(v), T.LOGISTIC(-v)

    def one(d):
        return np.where(v > 0, -(high * d), low * d - d)

    def zero(d):
        return np.where(v > 0, d - high * d, low * d)
    soft = T.numbers.through(T.numbers.softplus)
    return T.Var(soft(-v), ((x, one, one),)), T.Var(soft(v), ((x, zero, zero),))


@T.lowered("bce_with_logits")
def bce_with_logits(c, a, x, t, weight=None, pos_weight=None):
    one, zero = softplus_parts(x)
    left = t * one if pos_weight is None else pos_weight * t * one
    each = left + (1 - t) * zero
    if pos_weight is not None and planted("bce_pos_weight_whole"):
        each = pos_weight * (t * one + (1 - t) * zero)
    if weight is not None:
        each = weight * each
    return reduced(a, each)


@T.lowered("kl_div")
def kl_div(c, a, x, t):
    if a["log_target"]:
        each = T.exp(t) * (t - x)
    else:
        nothing = t.v == 0
        safe = T.where(nothing, 1.0, t)
        each = T.where(nothing, 0.0, t * (T.log(safe) - x))
    if a["reduction"] == "batchmean":
        return T.total(each) / each.v.shape[0]
    return reduced(a, each)


@T.lowered("soft_cross_entropy")
def soft_cross_entropy(c, a, x, t, w=None):
    axis = a["axis"] % x.v.ndim
    n, smoothing = x.v.shape[axis], a["label_smoothing"]
    z = x - T.detach(T.Var(x.v.max(axis=axis, keepdims=True)))
    l = z - T.log(T.total(T.exp(z), (axis,), True))
    p = t if smoothing == 0 else (1 - smoothing) * t + smoothing / n
    if w is not None:
        shape = [1] * x.v.ndim
        shape[axis] = n
        p = T.reshape(w, shape) * p
    each = -T.total(p * l, (axis,))
    return reduced(a, each)


class Classes:
    """What nll and cross_entropy share. Rows first, classes last."""

    def __init__(self, c, smooth):
        x, self.t = c.x[:2]
        self.axis = axis_of(c, x.ndim)
        self.x = np.moveaxis(x, self.axis, -1)
        self.n = self.x.shape[-1]
        self.w = c.x[2] if len(c.x) > 2 else None
        self.e = c.a.get("label_smoothing", 0.0)
        self.smooth = smooth
        self.l = self.x
        if smooth:
            z = self.x - self.x.max(axis=-1, keepdims=True)
            self.l = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        self.ignored = self.t == c.a["ignore_index"]
        if planted("ignore_index_only_negative") and c.a["ignore_index"] >= 0:
            self.ignored = np.zeros(self.t.shape, bool)
        self.valid = (self.t >= 0) & (self.t < self.n)
        self.at = np.where(self.valid, self.t, 0)
        one = np.ones(self.t.shape, self.x.dtype)
        picked = one if self.w is None or not self.n else np.where(self.valid, self.w[self.at], 1)
        self.a = np.where(self.ignored, 0, picked)
        self.total = self.a.sum()
        self.how = c.a["reduction"]
        if planted("classes_mean_counts_rows") and self.w is not None:
            self.total = np.asarray((~self.ignored).sum(), self.x.dtype)

    def pick(self, l):
        if not self.n:
            return np.zeros(self.t.shape, l.dtype)
        return np.take_along_axis(l, self.at[..., None], -1)[..., 0]

    def weighted(self, l):
        return l if self.w is None else self.w * l

    def each(self, l, a, smoothed):
        """Rows from logarithms l, weights a and the weighted logarithms that smoothing adds up."""
        hit = np.where(self.valid, -(a * self.pick(l)), np.nan)
        if self.e:
            share = self.n - 1 if planted("label_smoothing_over_others") else self.n
            hit = (1 - self.e) * hit - self.e / share * smoothed.sum(-1)
        return np.where(self.ignored, 0, hit)

    def result(self, each):
        if self.how == "none":
            return each
        s = each.sum()
        return s if self.how == "sum" else s / self.total

    def value(self):
        return self.result(self.each(self.l, self.a, self.weighted(self.l)))

    def tangent(self, tx, tw):
        each = np.zeros(self.t.shape, self.x.dtype)
        if not self.t.size:
            return each if self.how == "none" else each.sum()
        tx = None if tx is None else np.moveaxis(tx, self.axis, -1)
        if tx is not None:
            tl = tx - (np.exp(self.l) * tx).sum(-1, keepdims=True) if self.smooth else tx
            each = each + np.where(self.valid | self.ignored, self.each(tl, self.a, self.weighted(tl)), 0)
        out = None
        if tw is not None and self.n:
            ta = np.where(self.ignored | ~self.valid, 0, tw[self.at])
            each = each + np.where(self.valid | self.ignored, self.each(self.l, ta, tw * self.l), 0)
            if self.how == "mean":
                out = self.result(each) - self.value() * ta.sum() / self.total
        return self.result(each) if out is None else out

    def pulled(self, g):
        """The cotangent of each row."""
        if self.how == "none":
            v = g
        else:
            v = np.broadcast_to(g / self.total if self.how == "mean" else g, self.t.shape)
        return np.where(self.ignored, 0, v)[..., None]

    def cotangents(self, g):
        v = self.pulled(g)
        hot = (np.arange(self.n) == self.t[..., None]).astype(self.x.dtype)
        share = (1 - self.e) * hot + self.e / max(1, self.n)
        dl = -(v * (1 if self.w is None else self.w) * share)
        if not self.smooth or not self.n:
            dx = dl
        else:
            dx = dl - np.exp(self.l) * dl.sum(-1, keepdims=True)
        out = [np.moveaxis(dx, -1, self.axis), None]
        if self.w is not None:
            l = self.l if self.e else np.where(hot > 0, self.l, 0)
            l = np.where(self.ignored[..., None], 0, l)
            rows = tuple(range(self.t.ndim))
            dw = -((v * l * share).sum(axis=rows))
            if self.how == "mean":
                met = (hot * ~self.ignored[..., None]).any(axis=rows)
                dw = dw - np.where(met, self.value() * (v * hot).sum(axis=rows), 0)
            out.append(dw)
        return out


def classes(name, smooth):
    def jvp(c, ts):
        return [Classes(c, smooth).tangent(ts[0], ts[2] if len(ts) > 2 else None)]
    Op(name, "call", lambda c: [np.asarray(Classes(c, smooth).value())], jvp,
       lambda c, gs: Classes(c, smooth).cotangents(gs[0]), saves="x", extended=smooth)


classes("nll", False)
classes("cross_entropy", True)
