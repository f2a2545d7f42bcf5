"""Normalisation, and the distributions made by it. Axes are moved to the end and back."""
import numpy as np

from arithmetic import Variant, need


def last(f):
    """Along one axis, which stands last inside; f takes and gives tensors."""
    return lambda k, a, x: np.moveaxis(f(k, np.moveaxis(x, a["axis"], -1)), -1, a["axis"])


def last_vjp(f):
    def back(k, a, x, y, g):
        x0, y0, g0 = (np.moveaxis(t, a["axis"], -1) for t in (x[0], y[0], g))
        return [np.moveaxis(f(k, x0, y0, g0), -1, a["axis"])]
    return back


def last_jvp(f):
    back = last_vjp(f)
    return lambda k, a, x, y, d: back(k, a, x, y, d[0])


def row_sum(x):
    return np.sum(x, axis=-1, keepdims=True)


def top(x):
    return np.max(x, axis=-1, keepdims=True) if x.shape[-1] else x.sum(axis=-1, keepdims=True)


def softmax(k, x):
    e = k.exp(x - top(x))
    return e / row_sum(e)


def softmax_scaled(k, x):
    e = k.exp(x - top(x))
    return e * (k.c(1) / row_sum(e))


def softmax_online(k, x):
    """The largest so far and the sum of exponentials below it, updated by each element."""
    if not x.shape[-1]:
        return x
    m, s = x[..., :1], k.ones(x[..., :1].shape)
    for j in range(1, x.shape[-1]):
        new = np.maximum(m, x[..., j:j + 1])
        s = s * k.exp(m - new) + k.exp(x[..., j:j + 1] - new)
        m = new
    return k.exp(x - m) / s


def log_softmax(k, x):
    z = x - top(x)
    return z - k.log(row_sum(k.exp(z)))


def log_softmax_shifted(k, x):
    return x - (top(x) + k.log(row_sum(k.exp(x - top(x)))))


def log_softmax_once(k, x):
    m = top(x)
    return (x - k.log(row_sum(k.exp(x - m)))) - m


MASKED_LOW = -np.inf


def masked_softmax_where(k, a, x, m):
    x, m = np.broadcast_arrays(x, m)
    low = np.where(m, x, k.c(MASKED_LOW))
    low = np.moveaxis(low, a["axis"], -1)
    t = top(low)
    e = np.where(np.isinf(low) & (low < 0), k.c(0), k.exp(low - np.where(np.isinf(t), k.c(0), t)))
    s = row_sum(e)
    return np.moveaxis(np.where(s == 0, k.c(0), e / np.where(s == 0, k.c(1), s)), -1, a["axis"])


def over_last(a, x):
    axes = a["axes"]
    need(axes and axes == list(range(x.ndim - len(axes), x.ndim)) and x.size, "attribute", "only the last axes, and some elements")
    return tuple(axes)


def moments(k, x, axes):
    n = k.c(int(np.prod([x.shape[i] for i in axes])))
    mean = np.sum(x, axis=axes, keepdims=True) / n
    d = x - mean
    return n, mean, d, np.sum(d * d, axis=axes, keepdims=True) / n


def moments_fast(k, x, axes):
    n = k.c(int(np.prod([x.shape[i] for i in axes])))
    mean = np.sum(x, axis=axes, keepdims=True) / n
    return n, mean, x - mean, np.maximum(np.sum(x * x, axis=axes, keepdims=True) / n - mean * mean, k.c(0))


def moments_welford(k, x, axes):
    flat = x.reshape(x.shape[:x.ndim - len(axes)] + (-1,))
    mean, m2 = k.zeros(flat.shape[:-1]), k.zeros(flat.shape[:-1])
    for j in range(flat.shape[-1]):
        away = flat[..., j] - mean
        mean = mean + away / k.c(j + 1)
        m2 = m2 + away * (flat[..., j] - mean)
    shape = mean.shape + (1,) * len(axes)
    mean = mean.reshape(shape)
    return k.c(flat.shape[-1]), mean, x - mean, m2.reshape(shape) / k.c(flat.shape[-1])


def shifted(k, y, gamma, beta):
    y = y if gamma is None else y * gamma
    return y if beta is None else y + beta


def layer_norm_cuda(k, a, x, gamma, beta):
    _, mean, d, v = moments(k, x, over_last(a, x))
    return shifted(k, d * (k.c(1) / np.sqrt(v + k.c(a["eps"]))), gamma, beta)


def layer_norm_cpu(k, a, x, gamma, beta):
    _, mean, _, v = moments_welford(k, x, over_last(a, x))
    scale = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    return shifted(k, x * scale + (-mean * scale), gamma, beta)


def layer_norm_by(moments_of):
    """x*mul + (beta - mean*mul), mul = gamma/root."""
    def value(k, a, x, gamma, beta):
        _, mean, d, v = moments_of(k, x, over_last(a, x))
        mul = k.c(1) / np.sqrt(v + k.c(a["eps"]))
        mul = mul if gamma is None else mul * gamma
        return d * mul if beta is None else d * mul + beta
    return value


def layer_norm_folded(k, a, x, gamma, beta):
    _, mean, _, v = moments(k, x, over_last(a, x))
    inv = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    inv = inv if gamma is None else inv * gamma
    return x * inv + (-mean * inv if beta is None else beta - mean * inv)


def parameters(k, g, hat, axes, x):
    """The cotangents of gamma and beta."""
    rows = tuple(i for i in range(hat.ndim) if i not in axes)
    return [None if x[1] is None else np.sum(g * hat, axis=rows), None if x[2] is None else np.sum(g, axis=rows)]


def layer_norm_cuda_vjp(k, a, x, y, g):
    axes = over_last(a, x[0])
    n, mean, d, v = moments(k, x[0], axes)
    r = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    gg = g if x[1] is None else g * x[1]
    s1, s2 = np.sum(gg, axis=axes, keepdims=True), np.sum(gg * d * r, axis=axes, keepdims=True)
    return [((n * gg - d * r * s2) - s1) * ((k.c(1) / n) * r)] + parameters(k, g, d * r, axes, x)


def layer_norm_cpu_vjp(k, a, x, y, g):
    axes = over_last(a, x[0])
    n, mean, d, v = moments(k, x[0], axes)
    r = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    gg = g if x[1] is None else g * x[1]
    ds, db = np.sum(gg * x[0], axis=axes, keepdims=True), np.sum(gg, axis=axes, keepdims=True)
    b = (db * mean - ds) * r * r * r * (k.c(1) / n)
    c = -b * mean - db * r * (k.c(1) / n)
    return [r * gg + b * x[0] + c] + parameters(k, g, r * x[0] - r * mean, axes, x)


def layer_norm_hat_vjp(k, a, x, y, g):
    axes = over_last(a, x[0])
    n, mean, d, v = moments(k, x[0], axes)
    r = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    hat, gg = d * r, g if x[1] is None else g * x[1]
    c1, c2 = np.sum(hat * gg, axis=axes, keepdims=True) / n, np.sum(gg, axis=axes, keepdims=True) / n
    return [(gg - (hat * c1 + c2)) * r] + parameters(k, g, hat, axes, x)


def rms(k, a, x):
    axes = over_last(a, x)
    n = k.c(int(np.prod([x.shape[i] for i in axes])))
    return axes, n, k.c(1) / np.sqrt(np.sum(x * x, axis=axes, keepdims=True) / n + k.c(a["eps"]))


def rms_norm_torch(k, a, x, gamma):
    y = x * rms(k, a, x)[2]
    return y if gamma is None else y * gamma


def rms_norm_liger_vjp(k, a, x, y, g):
    axes, n, r = rms(k, a, x[0])
    m = g if x[1] is None else g * x[1]
    s = np.sum(m * x[0], axis=axes, keepdims=True)
    rows = tuple(i for i in range(g.ndim) if i not in axes)
    return [r * m + r * (-(k.c(1) / n) * r * r * s * x[0]), None if x[1] is None else np.sum(g * (x[0] * r), axis=rows)]


def rms_norm_apex_vjp(k, a, x, y, g):
    axes, n, r = rms(k, a, x[0])
    m, hat = g if x[1] is None else g * x[1], x[0] * r
    s = np.sum(m * hat, axis=axes, keepdims=True)
    rows = tuple(i for i in range(g.ndim) if i not in axes)
    return [((k.c(1) / n) * r) * (n * m - hat * s), None if x[1] is None else np.sum(g * hat, axis=rows)]


def rms_norm_jvp(k, a, x, y, d):
    axes, n, r = rms(k, a, x[0])
    mean = np.sum(x[0] * d[0], axis=axes, keepdims=True) / n
    t = d[0] * r - x[0] * (r * r * r * mean)
    if x[1] is None:
        return [t]
    return [t * x[1] + (x[0] * r) * d[1]]


def batch_statistics(k, a, x):
    """By channel, the channels last."""
    axes = tuple(range(x.ndim - 1))
    n = k.c(int(np.prod(x.shape[:-1])))
    mean = np.sum(x, axis=axes) / n
    d = x - mean
    return axes, n, mean, d, np.sum(d * d, axis=axes)


def running(k, a, old, default, channels):
    return np.full(channels, k.c(default)) if old is None else old


def batch_norm(normalised):
    def value(k, a, x, gamma, beta, mean, variance):
        z = np.moveaxis(x, a["axis"], -1)
        need(z.size, "shape", "some elements")
        old_mean, old_variance = running(k, a, mean, 0, z.shape[-1]), running(k, a, variance, 1, z.shape[-1])
        if not a["training"]:
            return np.moveaxis(normalised(k, a, z, old_mean, old_variance, gamma, beta), -1, a["axis"]), old_mean, old_variance
        _, n, mu, d, s = batch_statistics(k, a, z)
        y = np.moveaxis(normalised(k, a, z, mu, s / n, gamma, beta), -1, a["axis"])
        keep, move = k.c(1 - a["momentum"]), k.c(a["momentum"])
        return y, move * mu + keep * old_mean, move * (s / (n - k.c(1))) + keep * old_variance
    return value


def folded(k, a, x, mean, variance, gamma, beta):
    alpha = k.c(1) / np.sqrt(variance + k.c(a["eps"]))
    alpha = alpha if gamma is None else alpha * gamma
    return x * alpha + (-(mean * alpha) if beta is None else beta - mean * alpha)


def centred(k, a, x, mean, variance, gamma, beta):
    r = k.c(1) / np.sqrt(variance + k.c(a["eps"]))
    return shifted(k, (x - mean) * r if gamma is None else gamma * (x - mean) * r, None, beta)


def batch_norm_torch_vjp(k, a, x, y, g):
    need(a["training"] and x[3] is None and x[4] is None, "attribute", "the batch's statistics")
    z, gy = np.moveaxis(x[0], a["axis"], -1), np.moveaxis(g[0], a["axis"], -1)
    axes, n, mu, d, s = batch_statistics(k, a, z)
    r = k.c(1) / np.sqrt(s / n + k.c(a["eps"]))
    total, dot = np.sum(gy, axis=axes), np.sum(gy * d, axis=axes)
    w = r if x[1] is None else r * x[1]
    dx = (gy - total / n - d * (dot * r * r / n)) * w
    return [np.moveaxis(dx, -1, a["axis"]), dot * r, total, None, None]


def group_norm_torch(k, a, x, gamma, beta):
    need(x.size, "shape", "some elements")
    b, c, groups = x.shape[0], x.shape[1], a["groups"]
    rows = x.reshape(b, groups, -1)
    _, mean, _, v = moments_welford(k, rows, (2,))
    r = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    scale = np.broadcast_to(r, (b, groups, c // groups)).reshape(b, c)
    scale = scale if gamma is None else scale * gamma
    shift = -scale * np.broadcast_to(mean, (b, groups, c // groups)).reshape(b, c)
    shift = shift if beta is None else shift + beta
    wide = (b, c) + (1,) * (x.ndim - 2)
    return x * scale.reshape(wide) + shift.reshape(wide)


def instance_norm_flax(k, a, x, gamma, beta):
    need(x.size, "shape", "some elements")
    axes = tuple(range(2, x.ndim))
    if not axes:
        axes, n, d, v = (), k.c(1), x - x, k.zeros(x.shape)
    else:
        n, _, d, v = moments(k, x, axes)
    wide = (1, -1) + (1,) * (x.ndim - 2)
    mul = k.c(1) / np.sqrt(v + k.c(a["eps"]))
    mul = mul if gamma is None else mul * gamma.reshape(wide)
    return d * mul if beta is None else d * mul + beta.reshape(wide)


VARIANTS = [
    Variant("softmax_torch", "softmax", "PyTorch vec_softmax, vec_host_softmax_backward_lastdim: (g - sum(g*y))*y", last(softmax),
            last_vjp(lambda k, x, y, g: (g - row_sum(g * y)) * y), last_jvp(lambda k, x, y, d: y * d - y * row_sum(y * d))),
    Variant("softmax_cuda", "softmax", "PyTorch SoftMax.cu SoftMaxBackwardEpilogue: g*y - y*sum(g*y)", last(softmax),
            last_vjp(lambda k, x, y, g: g * y - y * row_sum(g * y))),
    Variant("softmax_onednn", "softmax", "oneDNN jit_uni_softmax: times 1/sum", last(softmax_scaled),
            last_vjp(lambda k, x, y, g: y * (g - row_sum(g * y)))),
    Variant("softmax_online", "softmax", "Milakov and Gimelshein 2018, FlashAttention: a running largest", last(softmax_online)),
    Variant("softmax_of_log", "softmax", "exp(log_softmax(x)), as in JAX before 0.3 nn.softmax's cousins",
            last(lambda k, x: k.exp(log_softmax(k, x))),
            loses={"f32 forward": "the logarithm's rounding times its size", "f64 forward": "the logarithm's rounding times its size"}),
    Variant("log_softmax_torch", "log_softmax", "PyTorch SoftMaxKernel.cpp; LogSoftMaxBackwardEpilogue: g - exp(y)*sum(g)", last(log_softmax),
            last_vjp(lambda k, x, y, g: g - k.exp(y) * row_sum(g)), last_jvp(lambda k, x, y, d: d - row_sum(k.exp(y) * d))),
    Variant("log_softmax_shifted", "log_softmax", "x - logsumexp(x), SciPy before 1.5, Keras backends",
            last(log_softmax_shifted),
            loses={"f32 forward": "the largest drowns the logarithm", "f64 forward": "the largest drowns the logarithm"}),
    Variant("log_softmax_softmax", "log_softmax", "JAX nn/functions.py: g - softmax(x)*sum(g)", last(log_softmax),
            last_vjp(lambda k, x, y, g: g - softmax(k, x) * row_sum(g))),
    Variant("masked_softmax_where", "masked_softmax", "PyTorch SoftMax.cpp masked_softmax; JAX nn.softmax(where=)", masked_softmax_where),
    Variant("layer_norm_cuda", "layer_norm", "PyTorch layer_norm_kernel.cu: vectorized_layer_norm, compute_gI", layer_norm_cuda, layer_norm_cuda_vjp),
    Variant("layer_norm_cpu", "layer_norm", "PyTorch cpu/layer_norm_kernel.cpp: RowwiseMoments, LayerNormBackwardKernel", layer_norm_cpu, layer_norm_cpu_vjp),
    Variant("layer_norm_triton", "layer_norm", "Triton tutorial 05-layer-norm _layer_norm_bwd_dx_fused: (wdy - (xhat*c1 + c2))*rstd",
            layer_norm_cuda, layer_norm_hat_vjp),
    Variant("layer_norm_flax", "layer_norm", "Flax linen _normalize with use_fast_variance=False: (x - mean)*(rsqrt*scale) + bias", layer_norm_by(moments)),
    Variant("layer_norm_flax_fast", "layer_norm", "Flax linen _compute_stats with use_fast_variance=True: E[x*x] - E[x]^2", layer_norm_by(moments_fast), rare=True,
            loses={"f32 forward": "the squares cancel", "f64 forward": "the squares cancel"}),
    Variant("layer_norm_keras", "layer_norm", "TensorFlow nn_impl.py batch_normalization: x*inv + (beta - mean*inv)", layer_norm_folded),
    Variant("rms_norm_torch", "rms_norm", "PyTorch layer_norm.cpp rms_norm: x*rsqrt(mean + eps)*gamma; Liger kernel's backward", rms_norm_torch,
            rms_norm_liger_vjp, rms_norm_jvp),
    Variant("rms_norm_apex", "rms_norm", "Apex layer_norm_cuda_kernel.cu cuComputeGradInput, rms_only", rms_norm_torch, rms_norm_apex_vjp),
    Variant("batch_norm_torch", "batch_norm", "PyTorch Normalization.cpp batch_norm_cpu_transform_input, batch_norm_backward_cpu_template",
            batch_norm(folded), batch_norm_torch_vjp),
    Variant("batch_norm_cuda", "batch_norm", "PyTorch Normalization.cuh batch_norm_transform_input_kernel: gamma*(x - mean)*invstd + beta", batch_norm(centred)),
    Variant("group_norm_torch", "group_norm", "PyTorch cpu/group_norm_kernel.cpp: scale = rstd*gamma, bias = -scale*mean + beta", group_norm_torch),
    Variant("instance_norm_flax", "instance_norm", "Flax linen InstanceNorm", instance_norm_flax),
]
