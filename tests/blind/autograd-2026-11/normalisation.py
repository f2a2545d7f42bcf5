"""The family of softmax, and normalisations: composed of sums, products and roots."""
import numpy as np

from core import WIDE, average, cached, choose, fresh, largest, planted, record, total, unary
from shape import broadcast, permuted, reshaped


def exponent(x):
    return unary(x, np.exp, lambda v, y: y)


def logarithm(x):
    return unary(x, np.log, lambda v, y: 1 / v)


def softmax(a, x):
    axis = a["axis"] % x.rank if x.rank else 0
    if planted("softmax_without_shift"):
        e = unary(x, lambda v: np.exp(v.astype(np.float64 if x.dtype == "f64" else np.float32)).astype(WIDE), lambda v, y: y)
    elif planted("softmax_shift_of_all"):
        e = unary(x - largest(x, range(x.rank)), lambda v: np.exp(v.astype(np.float32)).astype(WIDE), lambda v, y: y)
    else:
        e = exponent(x - largest(x, (axis,)))
    y = e / total(e, (axis,), True)
    if planted("softmax_pull_last_axis"):
        p = y.array
        return record(p, x.dtype, (x, lambda t: p * (t - (p * t).sum(axis, keepdims=True)),
                                   lambda g: p * (g - (p * g).sum(-1, keepdims=True))))
    return y


def log_softmax(a, x):
    axis = a["axis"] % x.rank if x.rank else 0
    if planted("log_softmax_log_of_softmax"):
        y = softmax(a, x)
        return logarithm(unary(y, lambda v: v.astype(np.float32 if x.dtype == "f32" else np.float64).astype(WIDE), lambda v, _: v * 0 + 1))
    z = x - largest(x, (axis,))
    return z - logarithm(total(exponent(z), (axis,), True))


def softened(x, live, axis):
    """Softmax over what is live; 0 elsewhere, also where nothing is."""
    top = np.where(live, x.array, -WIDE(np.inf)).max(axis, keepdims=True, initial=-np.inf)
    top = np.where(live.any(axis, keepdims=True), top, WIDE(0))
    if planted("masked_by_large_negative"):
        s = choose(live, x, WIDE(-1e9))
        e = exponent(s - largest(s, (axis,)))
        return choose(live, e / total(e, (axis,), True), 0)
    if planted("masked_row_of_nothing"):
        s = choose(live, x, -WIDE(np.inf))
        e = exponent(s - fresh(s.array.max(axis, keepdims=True), x.dtype))
        return e / total(e, (axis,), True)
    e = choose(live, exponent(choose(live, x - fresh(top, x.dtype), 0)), 0)
    s = total(e, (axis,), True)
    return choose(live, e / choose(live.any(axis, keepdims=True), s, 1), 0)


def to_end(x, axis):
    order = [i for i in range(x.rank) if i != axis % x.rank] + [axis % x.rank]
    return permuted(x, order)


def masked_softmax(a, x, m):
    x, m = to_end(x, a["axis"]), to_end(m, a["axis"])
    shape = np.broadcast_shapes(x.shape, m.shape)
    y = softened(broadcast(x, shape), np.broadcast_to(m.array, shape), len(shape) - 1)
    order = list(range(len(shape) - 1))
    order.insert(a["axis"] % len(shape), len(shape) - 1)
    return permuted(y, order)


def scaled(y, gamma, beta, shape):
    if gamma is not None:
        y = y * reshaped(gamma, shape)
    return y if beta is None else y + reshaped(beta, shape)


def rsqrt(v, eps):
    return unary(v + WIDE(eps), lambda u: 1 / np.sqrt(u), lambda u, y: -0.5 * y * y * y)


def centred(x, axes):
    m = average(x, axes, True)
    if planted("norm_mean_detached") and len(axes) > 1:
        m = fresh(m.array, m.dtype)
    if planted("norm_mean_tangent_missing"):
        m.tangent = None
    return x - m


def layer_norm(a, x, gamma=None, beta=None):
    axes = tuple(i % x.rank for i in a["axes"])
    d = centred(x, axes)
    v = average(d * d, axes, True)
    if planted("layer_norm_unbiased"):
        n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
        v = v * (WIDE(n) / max(n - 1, 1))
    if planted("layer_norm_eps_outside"):
        r = unary(v, lambda u: 1 / (np.sqrt(u) + WIDE(a["eps"])), lambda u, y: -0.5 * y * y / np.sqrt(u))
    elif planted("layer_norm_eps_cached"):
        r = rsqrt(v, cached(("eps", x.shape, axes, x.dtype), lambda: a["eps"]))
    else:
        r = rsqrt(v, a["eps"])
    return across(d * r, gamma, beta, axes, x)


def across(y, gamma, beta, axes, x):
    """gamma and beta have the extents of the axes, in the order in which those are given."""
    def fit(p):
        if not planted("affine_axes_unsorted"):
            p = permuted(p, np.argsort(axes))
        return reshaped(p, [x.shape[i] if i in axes else 1 for i in range(x.rank)])

    y = y if gamma is None else y * fit(gamma)
    return y if beta is None else y + fit(beta)


def rms_norm(a, x, gamma=None):
    axes = tuple(i % x.rank for i in a["axes"])
    if planted("rms_norm_eps_least"):
        v = average(x * x, axes, True)
        r = unary(v, lambda u: 1 / np.sqrt(np.maximum(u, WIDE(a["eps"]))), lambda u, y: -0.5 * y * y * y)
    else:
        r = rsqrt(average(x * x, axes, True), a["eps"])
    return across(x * r, gamma, None, axes, x)


def batch_norm(a, x, gamma=None, beta=None, mean=None, variance=None):
    axis, c = a["axis"] % x.rank, x.shape[a["axis"] % x.rank]
    axes = tuple(i for i in range(x.rank) if i != axis)
    n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    shape = [c if i == axis else 1 for i in range(x.rank)]
    mean = mean if mean is not None else fresh(np.zeros(c), x.dtype)
    variance = variance if variance is not None else fresh(np.ones(c), x.dtype)
    if not a["training"]:
        y = (x - reshaped(mean, shape)) * rsqrt(reshaped(variance, shape), a["eps"])
        return [scaled(y, gamma, beta, shape), mean, variance]
    m = average(x, axes, True)
    d = x - m
    s = total(d * d, axes, True)
    v = s / n
    y = scaled(d * rsqrt(v, a["eps"]), gamma, beta, shape)
    if planted("batch_norm_detaches_variance"):
        y = scaled(d * rsqrt(fresh(v.array, v.dtype), a["eps"]), gamma, beta, shape)
    k = WIDE(a["momentum"])
    unbiased = s.array.reshape(c) / (n if planted("batch_norm_running_biased") else n - 1)
    new_mean, new_variance = fresh(m.array.reshape(c), x.dtype), fresh(unbiased, x.dtype)
    if planted("batch_norm_running_not_detached"):
        new_mean = reshaped(m, (c,))
    if planted("batch_norm_momentum_of_old"):
        k = 1 - k
    return [y, mean * (1 - k) + new_mean * k, variance * (1 - k) + new_variance * k]


def group_norm(a, x, gamma=None, beta=None):
    b, c, g = x.shape[0], x.shape[1], a["groups"]
    n = int(np.prod(x.shape[2:], dtype=np.int64))
    z = reshaped(x, (b, g, c // g, n))
    d = centred(z, (2, 3))
    y = d * rsqrt(average(d * d, (2, 3), True), a["eps"])
    if planted("group_norm_gamma_by_group") and gamma is not None:
        # The channels of gamma are counted group by group.
        gamma = reshaped(permuted(reshaped(gamma, (c // g, g)), (1, 0)), (c,))
    return scaled(reshaped(y, x.shape), gamma, beta, (1, c) + (1,) * (x.rank - 2))


def instance_norm(a, x, gamma=None, beta=None):
    return group_norm({**a, "groups": x.shape[1]}, x, gamma, beta) if x.shape[1] else x


RULES = {"softmax": softmax, "log_softmax": log_softmax, "masked_softmax": masked_softmax, "layer_norm": layer_norm,
         "rms_norm": rms_norm, "batch_norm": batch_norm, "group_norm": group_norm, "instance_norm": instance_norm}
