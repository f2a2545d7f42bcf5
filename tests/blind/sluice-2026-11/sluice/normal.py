"""Decompositions: softmax and the normalisations, by the kernels of the tables."""
import numpy as np

from .elementwise import exp, log, sqrt, where
from .reductions import listed, mean_, sum_
from .registry import register
from .small import expand, on_axes, on_axis, permute, reshape
from .switch import on
from .tape import detach, lift, node


def top_of(a, axis):
    if a.shape[axis] == 0:
        return np.zeros([1 if i == axis % a.ndim else n for i, n in enumerate(a.shape)], a.dtype)
    return np.max(a, axis, keepdims=True)


@register("softmax")
def softmax(c, x):
    axis = c.axis % x.ndim
    e = np.exp(x.a - top_of(x.a, axis))
    y = e / e.sum(axis, keepdims=True)
    over = -1 if on("softmax_slope_last_axis") else axis
    return node(y, (x, lambda g: y * (g - (y * g).sum(over, keepdims=True)),
                    lambda d: y * (d - (y * d).sum(axis, keepdims=True))))


@register("log_softmax")
def log_softmax(c, x):
    axis = c.axis % x.ndim
    z = x - top_of(x.a, axis)
    return z - log(sum_(exp(z), [axis], True))


def softmax_where(x, live, axis):
    """Softmax over the places that are live, 0 elsewhere; x and live have one shape."""
    if on("dead_rows_get_mean"):
        x, kept = where(live, x, lift(-1e30, x)), np.ones_like(live)
    else:
        kept = live
    top = np.max(np.where(kept, x.a, -np.inf), axis, keepdims=True, initial=-np.inf)
    top = np.where(kept.any(axis, keepdims=True), top, 0)
    e = exp(where(kept, x - top, lift(0.0, x)))
    e = where(kept, e, lift(0.0, x))
    total = sum_(e, [axis], True)
    total = where(kept.any(axis, keepdims=True), total, lift(1.0, x))
    return where(kept, e / total, lift(0.0, x))


@register("masked_softmax")
def masked_softmax(c, x, m):
    """The axis is each tensor's own; the others join by broadcasting."""
    def last(rank):
        axis = c.axis % rank
        return [i for i in range(rank) if i != axis] + [axis]
    x = permute(x, last(x.ndim))
    live = np.transpose(m.a, last(m.ndim))
    shape = np.broadcast_shapes(x.shape, live.shape)
    y = softmax_where(expand(x, shape), np.broadcast_to(live, shape), len(shape) - 1)
    return permute(y, np.argsort(last(len(shape))))


def scaled_and_shifted(y, gamma, beta, place):
    if gamma is not None:
        y = place(gamma) * y
    return y + 0.0 if beta is None else y + place(beta)


@register("layer_norm")
def layer_norm(c, x, gamma=None, beta=None):
    axes = listed(c, x)
    place = lambda p: on_axes(p, axes, x.ndim)
    if on("norm_parameters_in_sorted_axes"):
        place = lambda p: reshape(p, [n if i in axes else 1 for i, n in enumerate(x.shape)])
    d = x - mean_(x, axes, True)
    v = mean_(d * d, axes, True)
    return scaled_and_shifted(d / sqrt(v + c.eps), gamma, beta, place)


@register("rms_norm")
def rms_norm(c, x, gamma=None):
    axes = listed(c, x)
    place = lambda p: on_axes(p, axes, x.ndim)
    v = mean_(x * x, axes, True)
    return scaled_and_shifted(x / sqrt(v + c.eps), gamma, None, place)


@register("batch_norm")
def batch_norm(c, x, gamma=None, beta=None, mean=None, variance=None):
    axis = c.axis % x.ndim
    rest = [i for i in range(x.ndim) if i != axis]
    n = int(np.prod([x.shape[i] for i in rest]))
    channels = x.shape[axis]
    old_mean = mean if mean is not None else lift(np.zeros(channels, c.w))
    old_variance = variance if variance is not None else lift(np.ones(channels, c.w))
    place = lambda p: on_axis(p, axis, x.ndim)
    if not c.training:
        d = x - place(old_mean)
        r = sqrt(old_variance + c.eps)
        if on("eval_statistics_constant"):
            d, r = x - detach(place(old_mean)), detach(r)
        y = scaled_and_shifted(d / place(r), gamma, beta, place)
        return y, old_mean * 1.0, old_variance * 1.0
    d = x - mean_(x, rest, True)
    s = sum_(d * d, rest, True)
    y = scaled_and_shifted(d / sqrt(s / float(n) + c.eps), gamma, beta, place)
    mu = lift(np.reshape(x.a.mean(tuple(rest)), [channels]))
    v = lift(np.reshape(s.a, [channels]) / (n if on("running_variance_biased") else n - 1))
    kept = 1 - np.asarray(c.momentum, c.w)
    return y, old_mean * kept + mu * c.momentum, old_variance * kept + v * c.momentum


def _groups(c, x, gamma, beta, groups):
    """Mean 0 and variance 1 over groups of channels and all positions."""
    b, channels = x.shape[:2]
    e = channels // groups
    if on("group_channels_strided"):
        split = reshape(x, (b, e, groups) + x.shape[2:])
        axes = [1] + list(range(3, split.ndim))
    else:
        split = reshape(x, (b, groups, e) + x.shape[2:])
        axes = list(range(2, split.ndim))
    n = int(np.prod([split.shape[a] for a in axes]))
    d = split - sum_(split, axes, True) / float(n)
    v = sum_(d * d, axes, True) / float(n)
    y = reshape(d / sqrt(v + c.eps), x.shape)
    return scaled_and_shifted(y, gamma, beta, lambda p: on_axis(p, 1, x.ndim))


@register("group_norm")
def group_norm(c, x, gamma=None, beta=None):
    return _groups(c, x, gamma, beta, c.groups)


@register("instance_norm")
def instance_norm(c, x, gamma=None, beta=None):
    n = int(np.prod(x.shape[2:]))
    axes = list(range(2, x.ndim))
    d = x - sum_(x, axes, True) / float(n) if axes else x - x
    s = sum_(d * d, axes, True) if axes else d * d
    v = s / float(n - 1 if on("instance_variance_unbiased") and n > 1 else n)
    return scaled_and_shifted(d / sqrt(v + c.eps), gamma, beta, lambda p: on_axis(p, 1, x.ndim))
