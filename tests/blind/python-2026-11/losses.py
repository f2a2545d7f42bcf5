"""Losses: a number for each element or row, and how they are put together."""
import numpy as np

from core import Rule, number, planted
from elementwise import binary, sigmoid


def reduced(t, a, each, divisor=None):
    if a["reduction"] == "none":
        return each
    total = t.one("sum", {"axes": list(range(len(each.shape))), "keepdims": False}, each)
    if a["reduction"] == "sum":
        return total
    if a["reduction"] == "batchmean":
        size = np.prod(each.shape, dtype=float)
        return total / (size if planted("kl_batchmean_divisor") else np.float64(each.shape[0]))
    return total / (np.float64(np.prod(each.shape, dtype=float)) if divisor is None else divisor)


def of_difference(f, slope):
    """A loss of d = x - t, as a rule of both."""
    def slopes(a, x):
        s = slope(a, x[0] - x[1])
        return s, -s
    return binary(lambda a, x, t: f(a, x - t),
                  lambda a, x, y, *dx: [None if d is None else s * d for s, d in zip(slopes(a, x), dx)],
                  lambda a, x, y, g: [s * g for s in slopes(a, x)])


def huber(a, d):
    delta, r = a["delta"], np.abs(d)
    if planted("huber_delta_factor"):
        return np.where(r > delta, r - delta / 2, d * d / 2)
    return np.where(r > delta, delta * (r - delta / 2), d * d / 2)


def smooth_l1(a, d):
    beta, r = a["beta"], np.abs(d)
    outside = r > beta if planted("smooth_l1_beta_zero") else r >= beta
    return np.where(outside, r - beta / 2, d * d / np.float64(2 * beta))


def smooth_l1_slope(a, d):
    beta, r = a["beta"], np.abs(d)
    outside = r > beta if planted("smooth_l1_beta_zero") else r >= beta
    return np.where(outside, np.sign(d), d / np.float64(beta))


def hinge_slopes(a, x):
    m = 1 - x[1] * x[0]
    dead = m < 0 if planted("hinge_slope_at_kink") else m <= 0
    return [np.where(dead, 0.0, -x[1]), np.where(dead, 0.0, -x[0])]


def hinge(a, x, t):
    m = 1 - t * x
    return np.where(m <= 0, 0.0, m)


def kl(a, x, t):
    if a["log_target"]:
        return np.exp(t) * (t - x)
    if planted("kl_zero_target"):
        return t * (np.log(t) - x)
    return np.where(t == 0, 0.0, t * (np.log(np.where(t == 0, 1.0, t)) - x))


def kl_slopes(a, x):
    x, t = x
    if a["log_target"]:
        return -np.exp(t), np.exp(t) * (t - x) + np.exp(t)
    return np.where(t == 0, 0.0, -t), np.where(t == 0, 0.0, np.log(np.where(t == 0, 1.0, t)) - x + 1)


def two_sided(f, slopes):
    return binary(f, lambda a, x, y, *dx: [None if d is None else s * d for s, d in zip(slopes(a, x), dx)],
                  lambda a, x, y, g: [s * g for s in slopes(a, x)])


def softplus_of(sign):
    """log(1 + e^(sign x)) and its slope."""
    def forward(a, x):
        z = sign * x
        return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(x)))
    slope = lambda x: sign * sigmoid(sign * x)
    return Rule(forward, lambda a, x, y, dx: slope(x[0]) * dx[0], lambda a, x, y, g: [slope(x[0]) * g])


def bce(t, a, x, target, weight=None, positive=None):
    one = target * t.one("softplus_minus", {}, x)
    zero = (1 - target) * t.one("softplus_plus", {}, x)
    if positive is not None and planted("bce_positive_weight"):
        each = positive * (one + zero)
    else:
        each = (one if positive is None else positive * one) + zero
    return reduced(t, a, each if weight is None else weight * each)


def ignored_rows(a, target):
    if planted("cross_entropy_ignore_class") and a["ignore_index"] >= 0:
        return np.zeros(target.shape, bool)
    return target.array == a["ignore_index"]


def pick(a, x, t, ignored):
    """x at class t, 0 in ignored rows, NaN where t is no class."""
    n = x.shape[a["axis"]]
    if n == 0:
        return np.where(ignored, 0.0, np.nan)
    ok = (t >= 0) & (t < n)
    at = np.expand_dims(np.where(ok, t, 0).astype(np.int64), a["axis"])
    y = np.squeeze(np.take_along_axis(x, at, a["axis"]), a["axis"])
    return np.where(ignored, 0.0, np.where(ok, y, np.nan))


def pick_jvp(a, x, y, dx):
    return np.where(np.isnan(pick(a, np.zeros(x[0].shape), *x[1:])), 0.0, pick(a, dx[0], *x[1:]))


def pick_vjp(a, x, y, g):
    v, t, ignored = x
    c, n = np.zeros(v.shape), v.shape[a["axis"]]
    if n == 0:
        return [c, None, None]
    ok = (t >= 0) & (t < n) & ~ignored
    at = np.expand_dims(np.where(ok, t, 0).astype(np.int64), a["axis"])
    np.put_along_axis(c, at, np.expand_dims(np.where(ok, g, 0.0), a["axis"]), a["axis"])
    return [c, None, None]


def row_weights(t, target, ignored, w):
    live = t.constant(~ignored)
    if w is None:
        return t.constant(np.where(ignored, 0.0, 1.0))
    n = w.shape[0]
    ok = (target.array >= 0) & (target.array < n)
    looked = t.one("gather", {"axis": 0}, w, t.constant(np.where(ok, target.array, 0)))
    looked = t.one("where", {}, t.constant(ok), looked, t.constant(1.0))
    return t.one("where", {}, live, looked, t.constant(0.0))


def nll_rows(t, a, logs, target, w, ignored):
    weights = row_weights(t, target, ignored, w)
    return weights, -(weights * t.one("pick", a, logs, target, t.constant(ignored)))


def nll(t, a, x, target, w=None):
    ignored = ignored_rows(a, target)
    weights, each = nll_rows(t, a, x, target, w, ignored)
    if planted("nll_mean_by_count"):
        return reduced(t, a, each, np.float64(np.sum(~ignored)))
    return reduced(t, a, each, summed(t, weights))


def summed(t, v):
    return t.one("sum", {"axes": list(range(len(v.shape))), "keepdims": False}, v)


def smoothing(t, a, logs, w, ignored):
    n = logs.shape[a["axis"]]
    rest = t.one("where", {}, t.constant(np.expand_dims(ignored, a["axis"])), t.constant(0.0), logs)
    if w is not None and not planted("cross_entropy_smoothing_weights"):
        rest = rest * t.one("reshape", {"shape": [n if i == a["axis"] else 1 for i in range(len(logs.shape))]}, w)
    return t.one("sum", {"axes": [a["axis"]], "keepdims": False}, rest)


def cross_entropy(t, a, x, target, w=None):
    ignored = ignored_rows(a, target)
    logs = t.one("log_softmax", {"axis": a["axis"]}, x)
    weights, each = nll_rows(t, a, logs, target, w, ignored)
    e = a["label_smoothing"]
    if e != 0:
        each = each * (1 - e) - smoothing(t, a, logs, w, ignored) * (e / x.shape[a["axis"]])
    if planted("cross_entropy_mean_counts_ignored"):
        return reduced(t, a, each, summed(t, row_weights(t, target, np.zeros_like(ignored), w)))
    return reduced(t, a, each, summed(t, weights))


def of(rule):
    return lambda t, a, x, target: reduced(t, a, t.one(rule, a, x, target))


RULES = {
    "mse_each": of_difference(lambda a, d: d * d, lambda a, d: 2 * d),
    "l1_each": of_difference(lambda a, d: np.abs(d), lambda a, d: np.sign(d)),
    "huber_each": of_difference(huber, lambda a, d: np.where(np.abs(d) > a["delta"], a["delta"] * np.sign(d), d)),
    "smooth_l1_each": of_difference(smooth_l1, smooth_l1_slope),
    "hinge_each": two_sided(hinge, hinge_slopes),
    "kl_each": two_sided(kl, kl_slopes),
    "softplus_plus": softplus_of(1), "softplus_minus": softplus_of(-1),
    "pick": Rule(pick, pick_jvp, pick_vjp),
    "mse": of("mse_each"), "l1": of("l1_each"), "huber": of("huber_each"), "smooth_l1": of("smooth_l1_each"),
    "hinge": of("hinge_each"), "kl_div": of("kl_each"), "bce_with_logits": bce, "nll": nll, "cross_entropy": cross_entropy,
}
