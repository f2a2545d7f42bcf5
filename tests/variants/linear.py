"""Contractions, convolutions, windows, attention, recurrent cells."""
import numpy as np

from activations import sigmoid
from arithmetic import Variant, listed, need


def matmul_by(product):
    def value(k, a, x, y):
        need(x.ndim == 2 and y.ndim == 2, "shape", "matrices")
        return product(k, x, y)
    return value


def terms(x, y):
    return np.moveaxis(x[:, :, None] * y[None, :, :], 1, 0)


def split(k, x, y):
    """Four partial products over a quarter of k each."""
    n, total = x.shape[1], k.zeros((x.shape[0], y.shape[1]))
    for s in range(4):
        at = slice(s * n // 4, (s + 1) * n // 4)
        total = total + k.folded(terms(x[:, at], y[at]), k.zeros(total.shape))
    return total


def strassen(k, x, y):
    """One level: seven products of halves."""
    rows, inner, columns = x.shape[0], x.shape[1], y.shape[1]
    half = [(n + 1) // 2 for n in (rows, inner, columns)]
    x = np.pad(x, ((0, 2 * half[0] - rows), (0, 2 * half[1] - inner)))
    y = np.pad(y, ((0, 2 * half[1] - inner), (0, 2 * half[2] - columns)))
    (a, b), (c, d) = (np.split(r, 2, 1) for r in np.split(x, 2))
    (e, f), (g, i) = (np.split(r, 2, 1) for r in np.split(y, 2))
    pairs = ((a + d, e + i), (c + d, e), (a, f - i), (d, g - e), (a + b, i), (c - a, e + f), (b - d, g + i))
    m = [k.folded(terms(p, q), k.zeros((p.shape[0], q.shape[1]))) for p, q in pairs]
    return np.block([[m[0] + m[3] - m[4] + m[6], m[2] + m[4]], [m[1] + m[3], m[0] - m[1] + m[2] + m[5]]])[:rows, :columns]


def wide(k, x, y):
    return np.asarray(np.matmul(x.astype(k.wide), y.astype(k.wide))).astype(k.T)


def two_product(k, x, y):
    p = x * y
    return p, (x.astype(np.longdouble) * y.astype(np.longdouble) - p).astype(k.T)


def dot_kahan(k, a, x, y):
    total, lost = k.c(0), k.c(0)
    for p in x * y:
        term = p - lost
        new = total + term
        total, lost = new, (new - total) - term
    return k.T(total)


def dot_lanes(k, a, x, y):
    partial = [k.c(0)] * 8
    for j, p in enumerate(x * y):
        partial[j % 8] = partial[j % 8] + p
    while len(partial) > 1:
        partial = [partial[i] + partial[i + len(partial) // 2] for i in range(len(partial) // 2)]
    return partial[0]


def linear_addmm(k, a, x, w, b):
    start = np.broadcast_to(k.c(0) if b is None else b, x.shape[:-1] + (w.shape[0],)).astype(k.T)
    for j in range(x.shape[-1]):
        start = start + x[..., j:j + 1] * w[:, j]
    return start


def linear_after(k, a, x, w, b):
    y = k.zeros(x.shape[:-1] + (w.shape[0],))
    for j in range(x.shape[-1]):
        y = y + x[..., j:j + 1] * w[:, j]
    return y if b is None else y + b


def im2col(k, a, x, w, bias):
    need(x.ndim == 3 and x.size and w.size, "shape", "one axis, some elements")
    stride, padding, dilation, groups = *(listed(a[key])[0] for key in ("stride", "padding", "dilation")), a["groups"]
    p = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    out = (p.shape[2] - dilation * (w.shape[2] - 1) - 1) // stride + 1
    need(out > 0, "shape", "some results")
    at = np.arange(out)[:, None] * stride + np.arange(w.shape[2]) * dilation
    columns = p[:, :, at]
    y = k.zeros((x.shape[0], w.shape[0], out))
    e, o = w.shape[1], w.shape[0] // groups
    for f in range(w.shape[0]):
        c = (f // o) * e
        products = columns[:, c:c + e] * w[f][None, :, None, :]
        y[:, f] = k.folded(np.moveaxis(products, 2, -1).reshape(x.shape[0], -1, out).transpose(1, 0, 2), k.zeros((x.shape[0], out)))
    return y if bias is None else y + bias[:, None]


def plain_three(a, x, w):
    need(x.ndim == 3 and w.shape[2] == 3 and listed(a["stride"])[0] == 1 and listed(a["dilation"])[0] == 1 and a["groups"] == 1 and x.size, "shape",
         "kernels of three at stride 1")
    p = np.pad(x, ((0, 0), (0, 0), (listed(a["padding"])[0],) * 2))
    need(p.shape[2] >= 3, "shape", "some results")
    return p


def winograd(k, a, x, w, bias):
    """F(2, 3): four products for two results."""
    p = plain_three(a, x, w)
    out = p.shape[2] - 2
    p = np.pad(p, ((0, 0), (0, 0), (0, 2)))
    y = k.zeros((x.shape[0], w.shape[0], out + 1))
    g0, g1, g2 = (w[None, :, :, j] for j in range(3))
    u1, u2 = (g0 + g1 + g2) * k.c(0.5), (g0 - g1 + g2) * k.c(0.5)
    for i in range(0, out, 2):
        d = [p[:, None, :, i + j] for j in range(4)]
        m1, m2, m3, m4 = ((d[0] - d[2]) * g0).sum(2), ((d[1] + d[2]) * u1).sum(2), ((d[2] - d[1]) * u2).sum(2), ((d[1] - d[3]) * g2).sum(2)
        y[:, :, i], y[:, :, i + 1] = m1 + m2 + m3, m2 - m3 - m4
    return y[:, :, :out] if bias is None else y[:, :, :out] + bias[:, None]


def fourier(k, a, x, w, bias):
    p = plain_three(a, x, w)
    n = p.shape[2]
    f = np.fft.rfft(p)[:, None] * np.conj(np.fft.rfft(w, n))[None]
    y = np.fft.irfft(f.sum(2).astype(np.complex64 if k.T is np.float32 else np.complex128), n)[:, :, :n - 2].astype(k.T)
    return y if bias is None else y + bias[:, None]


def windows(k, a, x):
    need(x.ndim == 3 and x.size, "shape", "one axis, some elements")
    kernel, stride, padding = (listed(a[key])[0] for key in ("kernel", "stride", "padding"))
    p = np.pad(x, ((0, 0), (0, 0), (padding, padding)))
    out = (p.shape[2] - kernel) // stride + 1
    counts = np.array([sum(0 <= i * stride + u - padding < x.shape[2] for u in range(kernel)) for i in range(out)])
    return p, out, kernel, stride, np.full(out, kernel) if a["count_include_pad"] else counts


def avg_pool_reciprocal(k, a, x):
    p, out, kernel, stride, counts = windows(k, a, x)
    total = k.zeros(x.shape[:2] + (out,))
    for u in range(kernel):
        total = total + p[:, :, u:u + (out - 1) * stride + 1:stride]
    return total * (k.c(1) / counts.astype(k.T))


def avg_pool_onednn(k, a, x):
    p, out, kernel, stride, counts = windows(k, a, x)
    total = k.zeros(x.shape[:2] + (out,))
    for u in range(kernel):
        total = total + p[:, :, u:u + (out - 1) * stride + 1:stride]
    return total / counts.astype(k.T)


def avg_pool_sliding(k, a, x):
    p, out, kernel, stride, counts = windows(k, a, x)
    sums = np.concatenate([k.zeros(x.shape[:2] + (1,)), np.cumsum(p, axis=2, dtype=k.T)], 2)
    at = np.arange(out) * stride
    return (sums[:, :, at + kernel] - sums[:, :, at]) / counts.astype(k.T)


def heads(k, a, q, key, v, mask, scale):
    need(mask is None and not a["causal"] and q.size and key.size and q.ndim == key.ndim == v.ndim and
         q.shape[:-2] == key.shape[:-2] == v.shape[:-2], "shape", "no mask, the same batches")
    return k.c(1) / np.sqrt(k.c(q.shape[-1])) if scale is None else scale


def product(k, x, y):
    total = k.zeros(x.shape[:-1] + (y.shape[-1],))
    for j in range(x.shape[-1]):
        total = total + x[..., j:j + 1] * y[..., j:j + 1, :]
    return total


def weights(k, s):
    e = k.exp(s - np.max(s, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention_after(k, a, q, key, v, mask, scale):
    f = heads(k, a, q, key, v, mask, scale)
    return product(k, weights(k, product(k, q, np.swapaxes(key, -1, -2)) * f), v)


def attention_before(k, a, q, key, v, mask, scale):
    f = heads(k, a, q, key, v, mask, scale)
    return product(k, weights(k, product(k, q * f, np.swapaxes(key, -1, -2))), v)


def attention_both(k, a, q, key, v, mask, scale):
    f = np.sqrt(heads(k, a, q, key, v, mask, scale))
    need(np.all(f == f), "attribute", "a scale with a root")
    return product(k, weights(k, product(k, q * f, np.swapaxes(key, -1, -2) * f)), v)


def attention_flash(k, a, q, key, v, mask, scale):
    """Blocks of two keys, the results rescaled as the largest grows."""
    s = product(k, q, np.swapaxes(key, -1, -2)) * heads(k, a, q, key, v, mask, scale)
    m, total, y = np.full(s.shape[:-1] + (1,), k.c(-np.inf)), k.zeros(s.shape[:-1] + (1,)), k.zeros(s.shape[:-1] + (v.shape[-1],))
    for j in range(0, s.shape[-1], 2):
        new = np.maximum(m, np.max(s[..., j:j + 2], axis=-1, keepdims=True))
        p, f = k.exp(s[..., j:j + 2] - new), k.exp(m - new)
        total, y, m = total * f + np.sum(p, axis=-1, keepdims=True), y * f + product(k, p, v[..., j:j + 2, :]), new
    return y / total


def attention_late(k, a, q, key, v, mask, scale):
    s = product(k, q, np.swapaxes(key, -1, -2)) * heads(k, a, q, key, v, mask, scale)
    e = k.exp(s - np.max(s, axis=-1, keepdims=True))
    return product(k, e, v) / np.sum(e, axis=-1, keepdims=True)


def affine(k, x, w, b):
    return linear_after(k, {}, x, w, b)


def gru(last):
    def value(k, a, x, h, wi, wh, bi, bh):
        n = h.shape[-1]
        s, t = affine(k, x, wi, bi), affine(k, h, wh, bh)
        r, z = sigmoid(k, s[..., :n] + t[..., :n]), sigmoid(k, s[..., n:2 * n] + t[..., n:2 * n])
        return last(k, k.tanh(s[..., 2 * n:] + r * t[..., 2 * n:]), z, h)
    return value


def lstm(k, a, x, h, c, wi, wh, bi, bh):
    n = h.shape[-1]
    z = affine(k, x, wi, bi) + affine(k, h, wh, bh)
    i, f, o = sigmoid(k, z[..., :n]), sigmoid(k, z[..., n:2 * n]), sigmoid(k, z[..., 3 * n:])
    c1 = f * c + i * k.tanh(z[..., 2 * n:3 * n])
    return o * k.tanh(c1), c1


def rnn(k, a, x, h, wi, wh, bi, bh):
    z = affine(k, x, wi, bi) + affine(k, h, wh, bh)
    return k.tanh(z) if a["nonlinearity"] == "tanh" else np.maximum(z, k.c(0))


def both(reason):
    return {"f32 forward": reason, "f64 forward": reason}


VARIANTS = [
    Variant("matmul_split", "matmul", "cuBLAS, CUTLASS split-K with accumulators of the type", matmul_by(split)),
    Variant("matmul_wide", "matmul", "f64 accumulators, BLIS mixed domain", matmul_by(wide)),
    Variant("matmul_sequential", "matmul", "TensorFlow.js cpu BatchMatMul, loops of C", matmul_by(lambda k, x, y: k.folded(terms(x, y), k.zeros((x.shape[0], y.shape[1]))))),
    Variant("matmul_strassen", "matmul", "Strassen 1969, one level", matmul_by(strassen), loses=both("sums of operands cancel")),
    Variant("dot_kahan", "dot", "Kahan's sum of products", dot_kahan),
    Variant("dot_lanes", "dot", "OpenBLAS sdot, eight lanes", dot_lanes),
    Variant("linear_addmm", "linear", "PyTorch addmm: the bias first", linear_addmm),
    Variant("linear_after", "linear", "Keras Dense: bias_add last", linear_after),
    Variant("conv1d_im2col", "conv1d", "Caffe im2col, PyTorch slow_conv2d", im2col),
    Variant("conv1d_winograd", "conv1d", "Winograd F(2, 3), Lavin and Gray 2015; NNPACK", winograd, loses=both("sums of operands cancel")),
    Variant("conv1d_fourier", "conv1d", "cuDNN FFT algorithm", fourier, loses=both("errors follow the largest element")),
    Variant("avg_pool1d_reciprocal", "avg_pool1d", "Eigen, XLA: times 1/count", avg_pool_reciprocal),
    Variant("avg_pool1d_onednn", "avg_pool1d", "oneDNN ref_pooling: sum/count", avg_pool_onednn),
    Variant("avg_pool1d_sliding", "avg_pool1d", "OpenCV boxFilter, scipy uniform_filter1d: differences of running sums", avg_pool_sliding,
            loses=both("running sums cancel")),
    Variant("attention_after", "scaled_dot_product_attention", "xFormers, TensorFlow models: scores scaled", attention_after),
    Variant("attention_before", "scaled_dot_product_attention", "Keras MultiHeadAttention, Flax: queries scaled", attention_before),
    Variant("attention_both", "scaled_dot_product_attention", "PyTorch _scaled_dot_product_attention_math: the root of the scale on both", attention_both),
    Variant("attention_flash", "scaled_dot_product_attention", "FlashAttention-2: blocks with a running largest, divided at last", attention_flash),
    Variant("attention_late", "scaled_dot_product_attention", "xFormers memory-efficient attention: divided at last", attention_late),
    Variant("gru_torch", "gru_cell", "PyTorch RNN.cpp GRUCell: (h - n)*z + n", gru(lambda k, n, z, h: (h - n) * z + n)),
    Variant("gru_keras", "gru_cell", "Keras GRUCell: z*h + (1 - z)*n", gru(lambda k, n, z, h: z * h + (k.c(1) - z) * n)),
    Variant("lstm_torch", "lstm_cell", "PyTorch RNN.cpp LSTMCell", lstm),
    Variant("rnn_torch", "rnn_cell", "PyTorch RNN.cpp SimpleCell", rnn),
]
