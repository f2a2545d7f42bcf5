"""Normalisations, and the distributions made by them."""
import math

import numpy as np

from . import tape as T
from .rule import Op, axes_of, axis_of, unbroadcast
from .switch import planted


# Softmax and its logarithm.
def soft(x, axis):
    if x.shape[axis] == 0:
        return x
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_forward(c):
    return [soft(c.x[0], axis_of(c, c.x[0].ndim))]


def softmax_along(c, d):
    axis = axis_of(c, c.x[0].ndim)
    y = soft(c.x[0], axis)
    over = -1 if planted("softmax_vjp_sums_last_axis") else axis
    return y * (d - (y * d).sum(axis=over, keepdims=True))


def softmax_jvp(c, ts):
    axis = axis_of(c, c.x[0].ndim)
    y = soft(c.x[0], axis)
    return [y * (ts[0] - (y * ts[0]).sum(axis=axis, keepdims=True))]


Op("softmax", "call", softmax_forward, softmax_jvp, lambda c, gs: [softmax_along(c, gs[0])],
   saves="x", extended=True)


def log_soft(x, axis):
    if x.shape[axis] == 0:
        return x
    z = x - x.max(axis=axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def log_softmax_jvp(c, ts):
    axis = axis_of(c, c.x[0].ndim)
    p = np.exp(log_soft(c.x[0], axis))
    return [ts[0] - (p * ts[0]).sum(axis=axis, keepdims=True)]


def log_softmax_vjp(c, gs):
    axis = axis_of(c, c.x[0].ndim)
    p, g = np.exp(log_soft(c.x[0], axis)), gs[0]
    if planted("log_softmax_vjp_assumes_one_hot"):
        return [g - p * np.sign(g.sum(axis=axis, keepdims=True))]
    return [g - p * g.sum(axis=axis, keepdims=True)]


Op("log_softmax", "call", lambda c: [log_soft(c.x[0], axis_of(c, c.x[0].ndim))], log_softmax_jvp, log_softmax_vjp,
   saves="x", extended=True)


def masked(c):
    """Probabilities over what the mask admits."""
    x, m = np.broadcast_arrays(*c.x)
    axis = axis_of(c, c.x[0].ndim) - c.x[0].ndim
    if not x.shape[axis]:
        return x, axis
    top = np.where(m, x, -np.inf).max(axis=axis, keepdims=True)
    e = np.where(m, np.exp(x - np.where(m.any(axis=axis, keepdims=True), top, 0)), 0)
    s = e.sum(axis=axis, keepdims=True)
    return np.where(m, e / s, 0), axis


def masked_rule(c, d):
    y, axis = masked(c)
    s = (y * d).sum(axis=axis, keepdims=True)
    m = np.broadcast_to(c.x[1], y.shape)
    return np.where(m, y * (d - s), 0)


Op("masked_softmax", "call", lambda c: [masked(c)[0]],
   lambda c, ts: [masked_rule(c, np.broadcast_to(ts[0], c.y[0].shape))],
   lambda c, gs: [unbroadcast(masked_rule(c, gs[0]), c.x[0].shape), None], saves="x", extended=True)


# Normalisation over axes.
def along(w, axes, rank):
    """A tensor of the axes, in their order, beside a tensor of all."""
    order = np.argsort(axes)
    w = np.transpose(w, order)
    shape = [1] * rank
    for k, n in zip(sorted(axes), w.shape):
        shape[k] = n
    return w.reshape(shape)


class Layer:
    def __init__(self, c):
        x = c.x[0]
        self.axes = axes_of(c, x.ndim)
        self.n = np.asarray(math.prod(x.shape[k] for k in self.axes), x.dtype)
        self.rest = tuple(k for k in range(x.ndim) if k not in self.axes)
        self.d = x - x.sum(axis=self.axes, keepdims=True) / self.n
        v = (self.d * self.d).sum(axis=self.axes, keepdims=True) / self.n
        self.r = 1 / np.sqrt(v + c.a["eps"])
        self.hat = self.d * self.r
        self.gamma = along(c.x[1], self.axes, x.ndim) if len(c.x) > 1 and c.x[1] is not None else 1
        self.beta = along(c.x[2], self.axes, x.ndim) if len(c.x) > 2 and c.x[2] is not None else 0

    def mean(self, x):
        return x.sum(axis=self.axes, keepdims=True) / self.n

    def of_axes(self, g):
        """Sums over the other axes, in the order of the axes."""
        g = np.asarray(g.sum(axis=self.rest))
        rank = np.argsort(np.argsort(self.axes))
        return np.transpose(g, rank)


def layer_forward(c):
    n = Layer(c)
    return [n.gamma * n.hat + n.beta]


def layer_jvp(c, ts):
    n, rank, y = Layer(c), c.x[0].ndim, 0
    if ts[0] is not None:
        e = ts[0] - n.mean(ts[0])
        y = y + n.gamma * (n.r * (e - n.hat * n.mean(e * n.hat)))
    if len(ts) > 1 and ts[1] is not None:
        y = y + along(ts[1], n.axes, rank) * n.hat
    if len(ts) > 2 and ts[2] is not None:
        y = y + along(ts[2], n.axes, rank)
    return [np.broadcast_to(y, c.y[0].shape)]


def layer_vjp(c, gs):
    n, g = Layer(c), gs[0]
    h = n.gamma * g
    if planted("layer_norm_vjp_scales_late"):
        dx = n.gamma * n.r * (g - n.mean(g) - n.hat * n.mean(g * n.hat))
    else:
        dx = n.r * (h - n.mean(h) - n.hat * n.mean(h * n.hat))
    return [dx, n.of_axes(g * n.hat), n.of_axes(g.astype(np.float64))][:len(c.x)]


Op("layer_norm", "call", layer_forward, layer_jvp, layer_vjp, saves="x", extended=True)


class Rms:
    def __init__(self, c):
        x = c.x[0]
        self.axes = axes_of(c, x.ndim)
        self.n = np.asarray(math.prod(x.shape[k] for k in self.axes), x.dtype)
        self.rest = tuple(k for k in range(x.ndim) if k not in self.axes)
        v = (x * x).sum(axis=self.axes, keepdims=True) / self.n
        self.r = 1 / np.sqrt(v + c.a["eps"])
        self.gamma = along(c.x[1], self.axes, x.ndim) if len(c.x) > 1 and c.x[1] is not None else 1


def rms_forward(c):
    n = Rms(c)
    return [n.gamma * (c.x[0] * n.r)]


def rms_slope(n, x, d):
    """Symmetric: tangents and cotangents go the same way."""
    return n.r * d - x * (n.r * n.r * n.r) * ((x * d).sum(axis=n.axes, keepdims=True) / n.n)


def rms_jvp(c, ts):
    n, x, y = Rms(c), c.x[0], 0
    if ts[0] is not None:
        y = y + n.gamma * rms_slope(n, x, ts[0])
    if len(ts) > 1 and ts[1] is not None:
        y = y + along(ts[1], n.axes, x.ndim) * (x * n.r)
    return [np.broadcast_to(y, c.y[0].shape)]


def rms_vjp(c, gs):
    n, x, g = Rms(c), c.x[0], gs[0]
    out = [rms_slope(n, x, n.gamma * g)]
    if len(c.x) > 1:
        rank = np.argsort(np.argsort(n.axes))
        out.append(np.transpose((g * (x * n.r)).sum(axis=n.rest), rank))
    return out


Op("rms_norm", "call", rms_forward, rms_jvp, rms_vjp, saves="x", extended=True)


# Batches, groups and instances: on the tape.
def channel(w, axis, rank):
    shape = [1] * rank
    shape[axis] = w.v.shape[0]
    return T.reshape(w, shape)


@T.lowered("batch_norm")
def batch_norm(c, a, x, gamma=None, beta=None, mean=None, variance=None):
    rank = x.v.ndim
    axis = a["axis"] % rank
    channels = x.v.shape[axis]
    rest = tuple(k for k in range(rank) if k != axis)
    n = math.prod(x.v.shape[k] for k in rest)
    old_mean = mean if mean is not None else T.Var(np.zeros(channels, x.v.dtype))
    old_variance = variance if variance is not None else T.Var(np.ones(channels, x.v.dtype))
    momentum = a["momentum"]
    if a["training"]:
        mu = T.total(x, rest) / n
        d = x - channel(mu, axis, rank)
        s = T.total(d * d, rest)
        v = s / n
        unbiased = n if planted("batch_norm_running_biased") else n - 1
        mean1 = (1 - momentum) * old_mean + momentum * T.detach(mu)
        variance1 = (1 - momentum) * old_variance + momentum * (T.detach(s) / unbiased)
    else:
        d, v, mean1, variance1 = x - channel(old_mean, axis, rank), old_variance, old_mean, old_variance
        if planted("batch_norm_eval_statistics_constant"):
            d, v = x - T.detach(channel(old_mean, axis, rank)), T.detach(v)
    y = d / channel(T.sqrt(v + a["eps"]), axis, rank)
    if gamma is not None:
        y = channel(gamma, axis, rank) * y
    if beta is not None:
        y = y + channel(beta, axis, rank)
    return y, mean1, variance1


def by_groups(x, gamma, beta, groups, eps):
    shape = x.v.shape
    b, ch = shape[:2]
    rows = T.reshape(x, (b, groups, (ch // groups) * math.prod(shape[2:])))
    n = rows.v.shape[-1]
    d = rows - T.total(rows, (2,), True) / n
    v = T.total(d * d, (2,), True) / n
    y = T.reshape(d / T.sqrt(v + eps), shape)
    if gamma is not None:
        w = gamma
        if planted("group_norm_gamma_by_group") and 1 < groups < ch:
            w = gamma[np.arange(ch) % groups]
        y = channel(w, 1, len(shape)) * y
    return y if beta is None else y + channel(beta, 1, len(shape))


@T.lowered("group_norm")
def group_norm(c, a, x, gamma=None, beta=None):
    return by_groups(x, gamma, beta, a["groups"], a["eps"])


@T.lowered("instance_norm")
def instance_norm(c, a, x, gamma=None, beta=None):
    eps = a["eps"]
    return by_groups(x, gamma, beta, x.v.shape[1], eps)
