"""Losses: something of each element, then its sum or mean."""
import numpy as np

from core import WIDE, choose, fresh, planted, record, total, unary
from elementwise import sigmoid_of, softplus_of
from normalisation import log_softmax
from shape import broadcast, permuted, reshaped, taken
from wide import times


def reduced(each, reduction, count=None):
    """The mean divides by the number of elements, or by `count`."""
    if reduction == "none":
        return each
    y = total(each, range(each.rank))
    if reduction == "sum":
        return y
    if planted("mean_divides_by_rows") and each.rank > 1 and count is None:
        return y / each.shape[0]
    if planted("mean_of_loss_pull_undivided"):
        n = each.size if count is None else count
        z = y / n
        return record(z.array, z.dtype, (y, lambda t: t / (n if count is None else n.array), lambda g: g))
    return y / (each.size if count is None else count)


def of_difference(value, slope):
    """Losses of x - t alone."""
    def rule(a, x, t):
        d = x - t
        if planted("loss_target_has_no_cotangent"):
            d = x - fresh(t.array, t.dtype)
        return reduced(unary(d, lambda v: value(a, v), lambda v, y: slope(a, v)), a["reduction"])
    return rule


def huber_value(a, v):
    k, m = WIDE(a["delta"]), np.abs(v)
    if planted("huber_beyond_without_delta"):
        return np.where(m > k, m - k / 2, v * v / 2)
    return np.where(m > k, k * (m - k / 2), v * v / 2)


def huber_slope(a, v):
    k = WIDE(a["delta"])
    return np.where(np.abs(v) > k, k * np.sign(v), v)


def smooth_l1_value(a, v):
    k, m = WIDE(a["beta"]), np.abs(v)
    return np.where(m >= k, m - k / 2, v * v / (2 * k))


def smooth_l1_slope(a, v):
    k = WIDE(a["beta"])
    if planted("smooth_l1_slope_without_beta"):
        return np.where(np.abs(v) >= k, np.sign(v), v)
    if planted("smooth_l1_slope_of_zero_beta"):
        return np.where(np.abs(v) > k, np.sign(v), v / k)
    return np.where(np.abs(v) >= k, np.sign(v), v / k)


def pinball_value(a, v):
    """Of x - t; the definition's difference is t - x."""
    q = WIDE(a["quantile"])
    d = -v
    return np.where(d > 0, q * d, np.where(d == 0, WIDE(0), (q - 1) * d))


def pinball_slope(a, v):
    q = WIDE(a["quantile"])
    at = -q if planted("pinball_slope_at_kink") else WIDE(0)
    return np.where(v < 0, -q, np.where(v == 0, at, 1 - q))


def hinge(a, x, t):
    m = 1 - t * x
    live = (lambda v: v >= 0) if planted("hinge_slope_at_kink") else (lambda v: ~(v <= 0))
    return reduced(unary(m, lambda v: np.where(v <= 0, WIDE(0), v), lambda v, y: np.where(live(v), WIDE(1), WIDE(0))), a["reduction"])


def bce_with_logits(a, x, t, weight=None, pos_weight=None):
    if planted("bce_saturates"):
        one = unary(x, lambda v: np.minimum(softplus_of(-v), 100), lambda v, y: -sigmoid_of(-v))
        zero = unary(x, lambda v: np.minimum(softplus_of(v), 100), lambda v, y: sigmoid_of(v))
    else:
        one = unary(x, lambda v: softplus_of(-v), lambda v, y: -sigmoid_of(-v))
        zero = unary(x, softplus_of, lambda v, y: sigmoid_of(v))
    first = t * one
    if pos_weight is not None:
        first = pos_weight * first
        if planted("bce_pos_weight_on_both"):
            zero = pos_weight * zero
    each = first + (1 - t) * zero
    if weight is not None:
        each = weight * each
        if planted("bce_mean_by_weights") and a["reduction"] == "mean":
            return reduced(each, "mean", total(broadcast(weight, each.shape), range(each.rank)))
    return reduced(each, a["reduction"])


def kl_div(a, x, t):
    if a["log_target"]:
        e = unary(t, np.exp, lambda v, y: y)
        if planted("kl_log_target_weight_detached"):
            e = fresh(e.array, e.dtype)
        each = e * (t - x)
    else:
        live = t.array != 0
        u = t if planted("kl_zero_target_not_guarded") else choose(live, t, 1)
        each = choose(live, u * (unary(u, np.log, lambda v, y: 1 / v) - x), 0)
        if planted("kl_zero_target_not_guarded"):
            each = u * (unary(u, np.log, lambda v, y: 1 / v) - x)
    if a["reduction"] == "batchmean":
        return total(each, range(each.rank)) / (each.size if planted("kl_batchmean_by_all") else x.shape[0])
    return reduced(each, a["reduction"])


def by_class(x, axis):
    """x as a matrix [c, rows], and the extents of its rows."""
    order = [axis] + [i for i in range(x.rank) if i != axis]
    rest = [x.shape[i] for i in order[1:]]
    return reshaped(permuted(x, order), (x.shape[axis], int(np.prod(rest, dtype=np.int64)))), rest


def picked(l, t):
    """l[t[r], r], 0 where t is no class."""
    c, n = l.shape
    inside = (t >= 0) & (t < c)
    at = np.where(inside, t, 0) * n + np.arange(n)
    flat = reshaped(l, (c * n,))
    return choose(inside, taken(flat, at, 0), 0), inside


def classed(a, l, x, t, w, smoothing):
    """nll and cross entropy: of logarithms of probabilities l."""
    axis = a["axis"] % x.rank
    l, rest = by_class(l, axis)
    c, target = l.shape[0], t.array.reshape(-1)
    ignored = target == a["ignore_index"]
    if planted("ignore_index_negative_only") and a["ignore_index"] >= 0:
        ignored = np.zeros_like(ignored)
    if planted("ignore_index_minus_hundred_too"):
        ignored = ignored | (target == -100)
    hit, inside = picked(l, target)
    if planted("target_out_of_range_is_zero"):
        inside = inside | True
    weights = fresh(np.ones(target.shape), x.dtype)
    if w is not None:
        weights = choose((target >= 0) & (target < c), taken(w, np.where((target >= 0) & (target < c), target, 0), 0), 1)
    weights = choose(~ignored, weights, 0)
    hit = choose(inside, -(weights * hit), WIDE(np.nan))
    if smoothing:
        k = WIDE(smoothing)
        share = l if w is None or planted("smoothing_without_weights") else l * reshaped(w, (c, 1))
        others = total(share, (0,))
        share_of = c - 1 if planted("smoothing_over_others") else c
        hit = hit * (1 - k) - others * (k / share_of)
    each = choose(~ignored, hit, 0)
    if a["reduction"] == "none":
        return reshaped(each, rest)
    if planted("mean_counts_ignored"):
        return reduced(each, a["reduction"])
    if planted("mean_by_rows_not_weights") and w is not None:
        return reduced(each, a["reduction"], fresh(np.asarray((~ignored).sum()), x.dtype))
    if planted("mean_weights_constant"):
        weights = fresh(weights.array, x.dtype)
    if planted("mean_of_nothing_is_zero") and not weights.array.any():
        return total(each, (0,))
    return reduced(each, a["reduction"], total(weights, (0,)))


def nll(a, x, t, w=None):
    return classed(a, x, x, t, w, 0)


def cross_entropy(a, x, t, w=None):
    return classed(a, log_softmax(a, x), x, t, w, a["label_smoothing"])


def soft_cross_entropy(a, x, t, w=None):
    axis, k = a["axis"] % x.rank, a["label_smoothing"]
    c = x.shape[axis]
    l, p = log_softmax(a, x), t
    if k:
        p = t * (1 - WIDE(k)) + WIDE(k) / c
    if planted("soft_targets_normalised"):
        p = p / total(p, (axis,), True)
    if w is not None:
        p = p * reshaped(w, [c if i == axis else 1 for i in range(x.rank)])
    each = -total(p * l, (axis,))
    if planted("soft_mean_by_weights") and w is not None and a["reduction"] == "mean":
        return total(each, range(each.rank)) / total(p, range(p.rank))
    return reduced(each, a["reduction"])


RULES = {
    "mse": of_difference(lambda a, v: times(v, v), lambda a, v: 2 * v),
    "l1": of_difference(lambda a, v: np.abs(v), lambda a, v: np.sign(v)),
    "huber": of_difference(huber_value, huber_slope), "smooth_l1": of_difference(smooth_l1_value, smooth_l1_slope),
    "pinball": of_difference(pinball_value, pinball_slope), "hinge": hinge, "bce_with_logits": bce_with_logits, "kl_div": kl_div,
    "nll": nll, "cross_entropy": cross_entropy, "soft_cross_entropy": soft_cross_entropy}
