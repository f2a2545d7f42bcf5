"""Decompositions of the losses; `reduced` ends most of them."""
import numpy as np

from .elementwise import absolute, exp, log, log1p, where
from .indexing import _take_lines, _add_lines
from .normal import top_of
from .reductions import sum_
from .registry import register
from .small import on_axis
from .switch import on
from .tape import lift, node


def total(x):
    return sum_(x, range(x.ndim))


def reduced(c, each, divisor=None):
    if c.reduction == "none":
        return each
    s = total(each)
    if c.reduction == "sum":
        return s
    return s / (float(each.a.size) if divisor is None else divisor)


@register("mse")
def mse(c, x, t):
    d = x - t
    y = node(d.a * d.a, (d, lambda g: g * d.a if on("mse_slope_halved") else 2 * g * d.a, lambda p: 2 * p * d.a))
    return reduced(c, y)


register("l1")(lambda c, x, t: reduced(c, absolute(x - t)))


@register("huber")
def huber(c, x, t):
    d = x - t
    size = absolute(d)
    far = size * c.delta - c.delta * c.delta / 2
    return reduced(c, where(size.a > c.delta, far, d * d / 2))


@register("smooth_l1")
def smooth_l1(c, x, t):
    d = x - t
    size = absolute(d)
    half = 2 * lift(c.beta if c.beta else 1.0, d)
    return reduced(c, where(size.a >= c.beta, size - c.beta / 2, d * d / half))


@register("hinge")
def hinge(c, x, t):
    m = 1 - t * x
    return reduced(c, where(m.a <= 0, lift(0.0, m), m))


@register("pinball")
def pinball(c, x, t):
    d = t - x
    q = c.quantile
    low = where(d.a == 0, lift(0.0, d), d * (q - 1))
    return reduced(c, where(d.a > 0, d * q, low))


@register("bce_with_logits")
def bce_with_logits(c, x, t, weight=None, pos_weight=None):
    tail = log1p(exp(-absolute_smooth(x)))
    one = where(x.a > 0, tail, tail - x)
    zero = where(x.a > 0, tail + x, tail)
    positive, negative = t * one, (1 - t) * zero
    if pos_weight is not None:
        positive = pos_weight * positive
        if on("pos_weight_on_both"):
            negative = pos_weight * negative
    each = positive + negative
    return reduced(c, each if weight is None else weight * each)


def absolute_smooth(x):
    """The absolute value, with slope -1 at 0: the branch of both parts there."""
    s = np.where(x.a > 0, 1, -1).astype(x.a.dtype)
    return node(np.abs(x.a), (x, lambda g: g * s, lambda d: d * s))


def hit(x, t, axis):
    """The elements of x at class t along an axis, which goes; NaN where t is no class."""
    n = x.shape[axis]
    at = t
    good = (at >= 0) & (at < n)
    at = np.expand_dims(at, axis)
    take = lambda a: np.squeeze(_take_lines(np.asarray(a), at, axis, at.shape), axis)
    y = np.where(good, take(x.a), np.nan)
    return node(y, (x, lambda g: _add_lines(at, np.expand_dims(np.where(good, g, 0), axis), axis, x.shape),
                    lambda d: np.where(good, take(d), 0)))


def row_weights(c, x, t, w):
    """The weight of each row: 1 without weights, 0 where it is ignored."""
    n = x.shape[c.axis % x.ndim]
    ignored = t == c.ignore_index
    if w is None:
        a = lift(np.ones(t.shape, x.a.dtype))
    else:
        at, good = np.where((t >= 0) & (t < n), t, 0), (t >= 0) & (t < n)

        def back(g):
            y = np.zeros(w.shape, np.asarray(g).dtype)
            np.add.at(y, at, np.where(good, g, 0))
            return y
        a = node(np.where(good, w.a[at], 1), (w, back, lambda d: np.where(good, d[at], 0)))
    return ignored, where(ignored, lift(0.0, x), a)


@register("nll")
def nll(c, x, t, w=None):
    axis = c.axis % x.ndim
    ignored, a = row_weights(c, x, t.a, w)
    each = where(ignored, lift(0.0, x), -(a * hit(x, t.a, axis)))
    divisor = total(a)
    if on("nll_mean_by_rows"):
        divisor = lift(float(np.sum(~ignored)), x)
    return reduced(c, each, divisor)


@register("cross_entropy")
def cross_entropy(c, x, t, w=None):
    axis = c.axis % x.ndim
    n = x.shape[axis]
    z = x - top_of(x.a, axis)
    l = z - log(sum_(exp(z), [axis], True))
    ignored, a = row_weights(c, x, t.a, w)
    soft = -(a * hit(l, t.a, axis))
    smoothing = c.label_smoothing
    if smoothing != 0:
        weighted = l if w is None or on("smoothing_without_class_weights") else on_axis(w, axis, x.ndim) * l
        soft = soft * (1 - smoothing) - sum_(weighted, [axis]) * (smoothing / n)
    each = where(ignored, lift(0.0, x), soft)
    return reduced(c, each, total(a))


@register("soft_cross_entropy")
def soft_cross_entropy(c, x, t, w=None):
    axis = c.axis % x.ndim
    n = x.shape[axis]
    z = x - top_of(x.a, axis)
    l = z - log(sum_(exp(z), [axis], True))
    p = t if c.label_smoothing == 0 else t * (1 - c.label_smoothing) + c.label_smoothing / n
    if w is not None:
        p = on_axis(w, axis, x.ndim) * p
    each = -sum_(p * l, [axis])
    return reduced(c, each)


@register("kl_div")
def kl_div(c, x, t):
    if c.log_target:
        each = exp(t) * (t - x)
    else:
        safe = where(t.a == 0, lift(1.0, t), t)
        each = where(t.a == 0, lift(0.0, t), safe * (log(safe) - x))
    if c.reduction == "batchmean":
        return total(each) / float(each.a.size if on("batchmean_is_mean") else x.shape[0])
    return reduced(c, each)
