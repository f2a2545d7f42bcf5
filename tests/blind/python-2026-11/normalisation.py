"""Softmax and its kin, and normalisation by moments."""
import numpy as np

from core import CACHE, Rule, planted
from elementwise import unbroadcast


def softmax(a, x):
    axis = a["axis"]
    if planted("softmax_plan_by_shape"):
        axis = CACHE.setdefault(("softmax", x.shape), axis)
    if x.shape[axis] == 0:
        return x.copy()
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


def centred(a, y, d):
    return y * (d - np.sum(y * d, a["axis"], keepdims=True))


def log_softmax(a, x):
    if x.shape[a["axis"]] == 0:
        return x.copy()
    z = x if planted("log_softmax_no_shift") else x - np.max(x, a["axis"], keepdims=True)
    return z - np.log(np.sum(np.exp(z), a["axis"], keepdims=True))


def log_softmax_vjp(a, x, y, g):
    return [g - np.exp(y) * np.sum(g, a["axis"], keepdims=True)]


def masked(x, m):
    """Softmax over what the mask admits along the last axis; a row that admits nothing is 0."""
    axis = -1
    shape = np.broadcast_shapes(x.shape, m.shape)
    x, m = np.broadcast_to(x, shape), np.broadcast_to(m, shape)
    top = np.max(x if planted("masked_softmax_top_of_all") else np.where(m, x, -np.inf), axis, keepdims=True, initial=-np.inf)
    none = ~np.any(m, axis, keepdims=True)
    top = np.where(none, 0.0, top)
    if planted("masked_softmax_none_admitted"):
        m = m | none
    e = np.where(m, np.exp(np.where(m, x, 0.0) - top), 0.0)
    s = np.sum(e, axis, keepdims=True)
    return np.where(m, e / np.where(none & (s == 0), 1.0, s), 0.0)


def masked_forward(a, x, m):
    return np.moveaxis(masked(np.moveaxis(x, a["axis"], -1), np.moveaxis(m, a["axis"], -1)), -1, a["axis"])


def masked_centred(a, m, y, d):
    """All with the axis last, and the result too."""
    y, m = np.moveaxis(y, a["axis"], -1), np.moveaxis(m, a["axis"], -1)
    return np.where(m, centred({"axis": -1}, y, np.where(m, d, 0.0)), 0.0)


def masked_jvp(a, x, y, dx):
    return np.moveaxis(masked_centred(a, x[1], y, np.moveaxis(dx[0], a["axis"], -1)), -1, a["axis"])


def masked_vjp(a, x, y, g):
    c = masked_centred(a, x[1], y, np.moveaxis(g, a["axis"], -1))
    return [np.moveaxis(unbroadcast(c, np.moveaxis(x[0], a["axis"], -1).shape), -1, a["axis"]), None]


def placed(t, v, axes, x):
    """A vector or tensor of the normalised axes beside x."""
    order = np.argsort(axes)
    shape = [x.shape[i] if i in axes else 1 for i in range(len(x.shape))]
    return t.one("reshape", {"shape": shape}, t.one("transpose", {"permutation": list(order)}, v))


def mean_over(t, x, axes):
    return t.one("mean", {"axes": list(axes), "keepdims": True}, x)


def root(t, v, eps):
    if planted("layer_norm_eps_outside"):
        return t.one("sqrt", {}, v) + eps
    return t.one("sqrt", {}, v + eps)


def moments(t, x, axes):
    d = x - mean_over(t, x, axes)
    return d, mean_over(t, t.one("square", {}, d), axes)


def affine(t, y, gamma, beta, axes, x):
    if gamma is not None:
        y = y * placed(t, gamma, axes, x)
    return y if beta is None else y + placed(t, beta, axes, x)


def layer_norm(t, a, x, gamma=None, beta=None):
    d, v = moments(t, x, a["axes"])
    return affine(t, d / root(t, v, a["eps"]), gamma, beta, a["axes"], x)


def rms_norm(t, a, x, gamma=None):
    v = mean_over(t, t.one("square", {}, x), a["axes"])
    if planted("rms_norm_root_constant"):
        v = t.one("detach", {}, v)
    return affine(t, x / t.one("sqrt", {}, v + a["eps"]), gamma, None, a["axes"], x)


def batch_norm(t, a, x, gamma=None, beta=None, mean=None, variance=None):
    axis = a["axis"]
    axes = [i for i in range(len(x.shape)) if i != axis]
    c = x.shape[axis]
    n = np.prod([x.shape[i] for i in axes], dtype=np.float64)
    old_mean = t.constant(np.zeros(c)) if mean is None else mean
    old_variance = t.constant(np.ones(c)) if variance is None else variance
    if a["training"]:
        d, v = moments(t, x, axes)
    else:
        d = x - placed(t, old_mean, [axis], x)
        v = t.one("broadcast_to", {"shape": list(x.shape)}, placed(t, old_variance, [axis], x))
    y = affine(t, d / t.one("sqrt", {}, v + a["eps"]), gamma, beta, [axis], x)
    if not a["training"]:
        return y, old_mean + 0.0, old_variance + 0.0
    squares = t.one("detach", {}, t.one("sum", {"axes": axes, "keepdims": False}, t.one("square", {}, d)))
    unbiased = squares / (n if planted("batch_norm_running_biased") else n - 1)
    mu = t.one("detach", {}, t.one("mean", {"axes": axes, "keepdims": False}, x))
    new = a["momentum"]
    old = 1 - new
    if planted("batch_norm_momentum_swapped"):
        new, old = old, new
    return y, old * old_mean + new * mu, old * old_variance + new * unbiased


def group_norm(t, a, x, gamma=None, beta=None):
    b, c, *s = x.shape
    g = a["groups"]
    z = t.one("reshape", {"shape": [b, g, c // g] + s}, x)
    if planted("group_norm_interleaved"):
        z = t.one("swap_axes", {"axis1": 1, "axis2": 2}, t.one("reshape", {"shape": [b, c // g, g] + s}, x))
    d, v = moments(t, z, range(2, 3 + len(s)))
    y = d / t.one("sqrt", {}, v + a["eps"])
    if planted("group_norm_interleaved"):
        y = t.one("swap_axes", {"axis1": 1, "axis2": 2}, y)
    return affine(t, t.one("reshape", {"shape": list(x.shape)}, y), gamma, beta, [1], x)


RULES = {
    "softmax": Rule(softmax, lambda a, x, y, dx: centred(a, y, dx[0]), lambda a, x, y, g: [centred(a, y, g)]),
    "log_softmax": Rule(log_softmax, lambda a, x, y, dx: dx[0] - np.sum(np.exp(y) * dx[0], a["axis"], keepdims=True),
                        log_softmax_vjp),
    "masked_softmax": Rule(masked_forward, masked_jvp, masked_vjp),
    "layer_norm": layer_norm, "rms_norm": rms_norm, "batch_norm": batch_norm, "group_norm": group_norm,
}
