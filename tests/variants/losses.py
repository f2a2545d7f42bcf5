"""Losses."""
import numpy as np

from activations import sigmoid
from arithmetic import Variant, need


def loss(each):
    return lambda k, a, x, t: k.reduced(each(k, a, x, t), a["reduction"])


def slope(f):
    """Cotangents of x and t by the slope of each term in x - t."""
    def vjp(k, a, x, y, g):
        dx = f(k, a, x[0] - x[1]) * k.spread(g, x[0].shape, a["reduction"])
        return [dx, -dx]
    return vjp


def mse_torch_vjp(k, a, x, y, g):
    norm = k.c(2 / max(x[0].size, 1) if a["reduction"] == "mean" else 2)
    dx = norm * (x[0] - x[1]) * g
    return [dx, -dx]


def huber_torch(k, a, x, t):
    z, delta = np.abs(x - t), k.c(a["delta"])
    return np.where(z <= delta, k.c(0.5) * z * z, delta * (z - k.c(0.5) * delta))


def huber_tensorflow(k, a, x, t):
    z, delta = np.abs(x - t), k.c(a["delta"])
    return np.where(z <= delta, k.c(0.5) * z * z, delta * z - k.c(0.5) * (delta * delta))


def huber_optax(k, a, x, t):
    z, delta = np.abs(x - t), k.c(a["delta"])
    q = np.minimum(z, delta)
    return k.c(0.5) * q * q + delta * (z - q)


def huber_clipped(k, a, d):
    return np.maximum(np.minimum(d, k.c(a["delta"])), k.c(-a["delta"]))


def smooth_l1_torch(k, a, x, t):
    z, beta = np.abs(x - t), k.c(a["beta"])
    return np.where(z < beta, k.c(0.5) * z * z / beta, z - k.c(0.5) * beta)


def smooth_l1_scaled(k, a, x, t):
    z, beta = np.abs(x - t), k.c(a["beta"])
    return np.where(z < beta, k.c(0.5) * (z * z) / beta, z - k.c(0.5) * beta)


def smooth_l1_slope(k, a, d):
    return np.where(np.abs(d) >= k.c(a["beta"]), np.sign(d), d / k.c(a["beta"]))


def pinball_sklearn(k, a, x, t):
    d = t - x
    return np.maximum(k.c(a["quantile"]) * d, k.c(a["quantile"] - 1) * d)


def bce(each):
    def value(k, a, x, t, weight, pos_weight):
        z = each(k, x, t, pos_weight)
        return k.reduced(z if weight is None else z * weight, a["reduction"])
    return value


def decayed(k, x):
    return k.log1p(k.exp(-np.abs(x)))


def bce_torch(k, x, t, p):
    if p is None:
        return (k.c(1) - t) * x + np.maximum(-x, k.c(0)) + decayed(k, x)
    return (k.c(1) - t) * x + ((p - k.c(1)) * t + k.c(1)) * (decayed(k, x) + np.maximum(-x, k.c(0)))


def bce_torch_old(k, x, t, p):
    m = np.maximum(-x, k.c(0))
    l = k.log(k.exp(-m) + k.exp(-x - m))
    return (k.c(1) - t) * x + (m + l if p is None else ((p - k.c(1)) * t + k.c(1)) * (l + m))


def bce_tensorflow(k, x, t, p):
    if p is None:
        return np.maximum(x, k.c(0)) - x * t + decayed(k, x)
    return (k.c(1) - t) * x + (k.c(1) + (p - k.c(1)) * t) * (decayed(k, x) + np.maximum(-x, k.c(0)))


def bce_optax(k, x, t, p):
    def log_sigmoid(x):
        return -(np.maximum(-x, k.c(0)) + decayed(k, x))
    hit = -t * log_sigmoid(x)
    return (hit if p is None else hit * p) - (k.c(1) - t) * log_sigmoid(-x)


def bce_torch_vjp(k, a, x, y, g):
    need(x[2] is None and x[3] is None and x[0].shape == x[1].shape, "shape", "no weights, no broadcasting")
    g = k.spread(g, x[0].shape, a["reduction"])
    return [(sigmoid(k, x[0]) - x[1]) * g, -x[0] * g, None, None]


def kl_div_torch(k, a, x, t):
    if a["log_target"]:
        each = k.exp(t) * (t - x)
    else:
        each = np.where(t == 0, k.c(0), t * k.log(np.where(t == 0, k.c(1), t))) - np.where(t == 0, k.c(0), t * x)
    if a["reduction"] == "batchmean":
        return k.T(np.sum(each)) / k.c(x.shape[0])
    return k.reduced(each, a["reduction"])


def kl_div_jax(k, a, x, t):
    if a["log_target"]:
        each = k.exp(t) * (t - x)
    else:
        each = np.where(t == 0, k.c(0), t * (k.log(np.where(t == 0, k.c(1), t)) - x))
    if a["reduction"] == "batchmean":
        return k.T(np.sum(each)) / k.c(x.shape[0])
    return k.reduced(each, a["reduction"])


def rows_last(a, x):
    return np.moveaxis(x, a["axis"], -1)


def log_softmax(k, x):
    z = x - np.max(x, axis=-1, keepdims=True)
    return z - k.log(np.sum(k.exp(z), axis=-1, keepdims=True))


def log_softmax_shifted(k, x):
    m = np.max(x, axis=-1, keepdims=True)
    return x - (k.log(np.sum(k.exp(x - m), axis=-1, keepdims=True)) + m)


def plain_targets(a, x, t, w):
    z = rows_last(a, x)
    need(z.size and t.size and w is None and np.all((t >= 0) & (t < z.shape[-1])), "shape", "classes alone, no weights")
    need(a["ignore_index"] < 0 or not np.any(t == a["ignore_index"]), "attribute", "nothing is ignored")
    return z


def cross_entropy(log_probabilities, terms):
    def value(k, a, x, t, w):
        z = plain_targets(a, x, t, w)
        return k.reduced(terms(k, a["label_smoothing"], log_probabilities(k, z), t, z.shape[-1]), a["reduction"])
    return value


def picked(l, t):
    return np.take_along_axis(l, t[..., None].astype(np.int64), -1)[..., 0]


def terms_torch(k, smoothing, l, t, c):
    hit = -picked(l, t)
    if smoothing == 0:
        return hit
    return k.c(1 - smoothing) * hit + k.c(smoothing / c) * -np.sum(l, axis=-1)


def terms_keras(k, smoothing, l, t, c):
    hot = (np.arange(c) == t[..., None]).astype(k.T)
    p = hot if smoothing == 0 else hot * k.c(1 - smoothing) + k.c(smoothing / c)
    return -np.sum(np.where(p == 0, k.c(0), p * l), axis=-1)


def cross_entropy_tensorflow_vjp(k, a, x, y, g):
    """softmax - labels."""
    z = plain_targets(a, x[0], x[1], x[2])
    e = k.exp(z - np.max(z, axis=-1, keepdims=True))
    hot = (np.arange(z.shape[-1]) == x[1][..., None]).astype(k.T)
    p = hot * k.c(1 - a["label_smoothing"]) + k.c(a["label_smoothing"] / z.shape[-1])
    dx = (e / np.sum(e, axis=-1, keepdims=True) - p) * k.spread(g, x[1].shape, a["reduction"])[..., None]
    return [np.moveaxis(dx, -1, a["axis"]), None, None]


def cross_entropy_torch_vjp(k, a, x, y, g):
    """Through the logarithm of the softmax: g - exp(l)*sum(g)."""
    z = plain_targets(a, x[0], x[1], x[2])
    l, c = log_softmax(k, z), z.shape[-1]
    hot = (np.arange(c) == x[1][..., None]).astype(k.T)
    u = k.spread(g, x[1].shape, a["reduction"])[..., None]
    gl = -(u * k.c(1 - a["label_smoothing"])) * hot - u * k.c(a["label_smoothing"] / c)
    return [np.moveaxis(gl - k.exp(l) * np.sum(gl, axis=-1, keepdims=True), -1, a["axis"]), None, None]


def soft_cross_entropy(log_probabilities):
    def value(k, a, x, t, w):
        z, p = rows_last(a, x), rows_last(a, t)
        need(z.size and w is None, "shape", "some elements, no weights")
        if a["label_smoothing"]:
            p = p * k.c(1 - a["label_smoothing"]) + k.c(a["label_smoothing"] / z.shape[-1])
        return k.reduced(-np.sum(log_probabilities(k, z) * p, axis=-1), a["reduction"])
    return value


def soft_cross_entropy_tensorflow_vjp(k, a, x, y, g):
    """exp(z)/sum - labels, for labels that add up to 1: xent_op.h does not ask."""
    z, p = rows_last(a, x[0]), rows_last(a, x[1])
    need(z.size and x[2] is None and not a["label_smoothing"], "attribute", "labels alone")
    e = k.exp(z - np.max(z, axis=-1, keepdims=True))
    u = k.spread(g, z.shape[:-1], a["reduction"])[..., None]
    dx = (e / np.sum(e, axis=-1, keepdims=True) * np.sum(p, axis=-1, keepdims=True) - p) * u
    dt = -(u * log_softmax(k, z))
    return [np.moveaxis(dx, -1, a["axis"]), np.moveaxis(dt, -1, a["axis"]), None]


SHIFTED = {"f32 forward": "the largest drowns the logarithm", "f64 forward": "the largest drowns the logarithm"}
VARIANTS = [
    Variant("mse_torch", "mse", "PyTorch mse_kernel; PointwiseOpsKernel mse_backward_kernel: norm*(x - t)*g", loss(lambda k, a, x, t: (x - t) * (x - t)), mse_torch_vjp),
    Variant("mse_tensorflow", "mse", "TensorFlow squared_difference, grad: 2*g*(x - t)", loss(lambda k, a, x, t: (x - t) * (x - t)),
            lambda k, a, x, y, g: (lambda dx: [dx, -dx])((k.c(2) * k.spread(g, x[0].shape, a["reduction"])) * (x[0] - x[1]))),
    Variant("huber_torch", "huber", "PyTorch huber_kernel, huber_backward_kernel: norm*clamp(x - t)*g", loss(huber_torch), slope(huber_clipped)),
    Variant("huber_tensorflow", "huber", "Keras losses.huber: delta*|d| - delta^2/2", loss(huber_tensorflow)),
    Variant("huber_optax", "huber", "optax huber_loss: q^2/2 + delta*(|d| - q), q = min(|d|, delta)", loss(huber_optax)),
    Variant("smooth_l1_torch", "smooth_l1", "PyTorch smooth_l1_kernel, smooth_l1_backward_kernel", loss(smooth_l1_torch), slope(smooth_l1_slope)),
    Variant("smooth_l1_scaled", "smooth_l1", "fvcore smooth_l1_loss: 0.5*n**2/beta", loss(smooth_l1_scaled)),
    Variant("pinball_sklearn", "pinball", "scikit-learn mean_pinball_loss, max(q*d, (q - 1)*d)", loss(pinball_sklearn)),
    Variant("l1_torch", "l1", "PyTorch l1_loss; sign(x - t)*g", loss(lambda k, a, x, t: np.abs(x - t)), slope(lambda k, a, d: np.sign(d))),
    Variant("hinge_clamped", "hinge", "Keras hinge: maximum(1 - t*x, 0)", loss(lambda k, a, x, t: np.maximum(k.c(1) - t * x, k.c(0)))),
    Variant("bce_torch", "bce_with_logits", "PyTorch Loss.cpp binary_cross_entropy_with_logits since 2.1: log1p(exp(-|x|)); grad (sigmoid(x) - t)*g",
            bce(bce_torch), bce_torch_vjp,
            loses={"f32 vjp": "sigmoid(x) - t cancels where the loss is small", "f64 vjp": "sigmoid(x) - t cancels where the loss is small"}),
    Variant("bce_torch_old", "bce_with_logits", "PyTorch Loss.cpp before 2.1: log(exp(-m) + exp(-x - m)), a part of the definition", bce(bce_torch_old)),
    Variant("bce_tensorflow", "bce_with_logits", "TensorFlow nn_impl.py sigmoid_cross_entropy_with_logits: max(x, 0) - x*t + log1p(exp(-|x|))", bce(bce_tensorflow)),
    Variant("bce_optax", "bce_with_logits", "optax sigmoid_binary_cross_entropy: -t*log_sigmoid(x) - (1 - t)*log_sigmoid(-x)", bce(bce_optax)),
    Variant("kl_div_torch", "kl_div", "PyTorch Loss.cpp kl_div: xlogy(t, t) - t*x", kl_div_torch),
    Variant("kl_div_jax", "kl_div", "optax kl_divergence: t*(log t - x)", kl_div_jax),
    Variant("cross_entropy_torch", "cross_entropy", "PyTorch LossNLL.cpp cross_entropy_loss: nll of log_softmax", cross_entropy(log_softmax, terms_torch), cross_entropy_torch_vjp),
    Variant("cross_entropy_tensorflow", "cross_entropy", "TensorFlow sparse_xent_op.h: log(sum) - z; backprop exp(z)/sum - labels",
            cross_entropy(log_softmax, terms_torch), cross_entropy_tensorflow_vjp),
    Variant("cross_entropy_keras", "cross_entropy", "Keras CategoricalCrossentropy with smoothed labels: -sum(p*l)", cross_entropy(log_softmax, terms_keras)),
    Variant("cross_entropy_optax", "cross_entropy", "optax softmax_cross_entropy_with_integer_labels: logsumexp(x) - x[t]",
            cross_entropy(log_softmax_shifted, terms_torch), loses=SHIFTED),
    Variant("soft_cross_entropy_torch", "soft_cross_entropy", "PyTorch LossNLL.cpp cross_entropy_loss_prob_target: -(l*t).sum", soft_cross_entropy(log_softmax)),
    Variant("soft_cross_entropy_tensorflow", "soft_cross_entropy", "TensorFlow xent_op.h: softmax - labels", soft_cross_entropy(log_softmax),
            soft_cross_entropy_tensorflow_vjp),
]
