"""Losses."""
import numpy as np

from quarry import build as a
from quarry.build import moved, shaped, to, total, where
from quarry.lowering.axes import axis_of, loss, require
from quarry.lowering.normalisation import log_soft_max
from quarry.lower import operation
from quarry.switch import defect


@operation(reduction="mean")
def mse(at, x, t):
    d = x - t
    return loss(d * d, at.reduction)


@operation(reduction="mean")
def l1(at, x, t):
    if defect("l1_slope_at_zero"):
        return loss(where(x < t, t - x, x - t), at.reduction)
    return loss(a.magnitude(x - t), at.reduction)


@operation(delta=1.0, reduction="mean")
def huber(at, x, t):
    d = x - t
    size = a.magnitude(d)
    return loss(where(size > at.delta, at.delta * (size - at.delta / 2), d * d / 2.0), at.reduction)


@operation(beta=1.0, reduction="mean")
def smooth_l1(at, x, t):
    d = x - t
    size, far = a.magnitude(d), a.magnitude(d) >= at.beta
    # At beta = 0 nothing is near, and 0/0 must not come back through the choice.
    near = where(far, 0.0, d)
    return loss(where(far, size - at.beta / 2, near * near / (2.0 * at.beta)), at.reduction)


@operation(reduction="mean")
def hinge(at, x, t):
    m = 1.0 - t * x
    return loss(where(m <= 0, 0.0, m), at.reduction)


@operation(quantile=0.5, reduction="mean")
def pinball(at, x, t):
    d = t - x
    below = where(a.eq(d, 0), 0.0, (at.quantile - 1.0) * d)
    return loss(where(d > 0, at.quantile * d, below), at.reduction)


@operation(reduction="mean")
def bce_with_logits(at, x, t, weight=None, pos_weight=None):
    above = x > 0
    small = where(above, a.log1p(a.exp(-where(above, x, 0.0))), a.log1p(a.exp(where(above, 0.0, x))))
    one = where(above, small, small - x)
    zero = where(above, small + x, small)
    if defect("positive_weight_constant") and pos_weight is not None:
        pos_weight = a.detach(pos_weight)
    positive = t * one if pos_weight is None else pos_weight * t * one
    negative = (1.0 - t) * zero
    each = positive + negative
    return loss(each if weight is None else weight * each, at.reduction)


def class_rows(x, axis):
    """The classes as the last axis."""
    return moved(x, [axis], [x.rank - 1])


def picked(rows, t, w, ignored):
    """Minus the weighted element at the class, and the weight, of each row; NaN where the target is no class."""
    c = rows.shape[-1]
    inside = (t >= 0) & (t < c)
    weight = a.broadcast(a.lift(1.0, rows.dtype), t.shape)
    if w is not None:
        weight = where(inside, a.gathered(w, t, 0), 1.0)
    weight = where(ignored, 0.0, weight)
    at_class = shaped(a.gathered_along(rows, shaped(t, t.shape + (1,)), rows.rank - 1), t.shape)
    return where(inside, -(weight * at_class), np.nan), weight


def weighted(each, weight, reduction):
    if reduction == "mean":
        axes = range(each.rank)
        if defect("class_weight_sum_constant"):
            weight = a.detach(weight)
        return total(each, axes) / total(weight, axes)
    return loss(each, reduction)


@operation(axis=-1, ignore_index=-100, reduction="mean")
def nll(at, x, t, w=None):
    rows, t = class_rows(x, axis_of(at.axis, x.rank)), to(t, np.int64)
    ignored = a.eq(t, at.ignore_index)
    hit, weight = picked(rows, t, w, ignored)
    return weighted(where(ignored, 0.0, hit), weight, at.reduction)


@operation(axis=-1, ignore_index=-100, label_smoothing=0.0, reduction="mean")
def cross_entropy(at, x, t, w=None):
    smoothing = at.static("label_smoothing")
    rows, t = class_rows(x, axis_of(at.axis, x.rank)), to(t, np.int64)
    c = rows.shape[-1]
    require(c > 0 and 0 <= smoothing <= 1, "c > 0 and label_smoothing from 0 to 1")
    ignored = a.eq(t, at.ignore_index)
    logs = log_soft_max(rows, rows.rank - 1)
    soft, weight = picked(logs, t, w, ignored)
    if smoothing != 0:
        every = total(logs if w is None else w * logs, [logs.rank - 1])
        soft = (1.0 - smoothing) * soft - smoothing / c * every
    return weighted(where(ignored, 0.0, soft), weight, at.reduction)


@operation(axis=-1, label_smoothing=0.0, reduction="mean")
def soft_cross_entropy(at, x, t, w=None):
    smoothing = at.static("label_smoothing")
    x, t = (class_rows(v, axis_of(at.axis, v.rank)) for v in (x, t))
    c = x.shape[-1]
    require(c > 0 and 0 <= smoothing <= 1, "c > 0 and label_smoothing from 0 to 1")
    if defect("soft_target_constant"):
        t = a.detach(t)
    p = t if smoothing == 0 else (1.0 - smoothing) * t + smoothing / c
    p = p if w is None else w * p
    return loss(-total(p * log_soft_max(x, x.rank - 1), [x.rank - 1]), at.reduction)


@operation(log_target=False, reduction="mean")
def kl_div(at, x, t):
    if at.log_target:
        each = (t if defect("kl_log_target_not_raised") else a.exp(t)) * (t - x)
    else:
        nothing = a.eq(t, 0)
        known = where(nothing, 1.0, t)
        each = where(nothing, 0.0, known * (a.log(known) - where(nothing, 0.0, x)))
    if at.reduction == "batchmean":
        return total(each, range(each.rank)) / float(x.shape[0])
    return loss(each, "mean" if at.reduction == "batchmean" else at.reduction)
