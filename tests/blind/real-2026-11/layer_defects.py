"""Defects of shapes, indices, products, windows, normalisation, attention and losses."""
import numpy as np

import layers
from elementwise_defects import cotangent, forward
from operation import each

LAST = {"product": None}


def last_write_wins(f, a, c, x, y, g):
    v, t = x
    axis = a["axis"] % v.ndim
    d = np.zeros(v.shape)
    rows, slices = np.moveaxis(d, axis, 0), np.moveaxis(g, range(axis, axis + t.ndim), range(t.ndim))
    for j in np.ndindex(t.shape):
        if 0 <= t[j] < v.shape[axis]:
            rows[t[j]] = slices[j]
    return [d, None]


def flipped_offset(f, a, c, x):
    start, stop, step = (each(a[k], x.ndim) for k in ("start", "stop", "step"))
    start, stop = list(start), list(stop)
    for axis, s in enumerate(step):
        n = len(range(start[axis], stop[axis], s))
        if s < 0 and 0 < n * -s <= x.shape[axis]:
            start[axis], stop[axis] = n * -s - 1, n * -s - 1 + n * s
    return f({**a, "start": start, "stop": stop, "step": step}, c, x)


def unwritten_buffer(f, a, c, x, y):
    """The last, incomplete tile of rows adds 0 times what the result's buffer held before."""
    z = f(a, c, x, y)
    before, LAST["product"] = LAST["product"], z
    if before is None or z.ndim < 2 or not before.size or z.dtype.kind != "f":
        return z
    old = np.resize(before, z.shape)
    tail = np.arange(z.shape[-2]) >= z.shape[-2] // 8 * 8
    return np.where(tail[:, None], z + 0 * old, z)


def overwritten_windows(f, a, c, x, y, g):
    padding = each(a["padding"], x[0].ndim - 2)
    d = np.zeros(x[0].shape[:2] + tuple(s + 2 * p for s, p in zip(x[0].shape[2:], padding)))
    for _, places, _ in layers.windows(a, x[0], each(a["kernel"], x[0].ndim - 2), 0):
        d[places] = g / layers.cells(a, x[0])
    return [d[(slice(None),) * 2 + tuple(slice(p, p + s) for p, s in zip(padding, x[0].shape[2:]))]]


def end_padding_uncounted(f, a, c, x):
    if not a["count_include_pad"]:
        return f(a, c, x)
    n = x.ndim - 2
    padding = each(a["padding"], n)
    counted = np.ones((1, 1) + tuple(s + p for s, p in zip(x.shape[2:], padding)))
    counted = np.pad(counted, [(0, 0)] * 2 + [(0, p) for p in padding])
    full, kernel = {**a, "padding": [0] * n}, each(a["kernel"], n)
    cells = sum(part for _, _, part in layers.windows(full, counted, kernel, 0))
    return f(a, c, x) * layers.cells(a, x) / cells


def empty_corner(f, a, c, x):
    y = f(a, c, x).copy()
    if x.ndim == 4 and any(each(a["padding"], 2)) and y.size:
        y[:, :, -1, 0] = 0
    return y


def unread_last_row(f, a, c, x):
    y = f(a, c, x)
    n = x.ndim - 2
    if y.size and all(s == 1 for s in each(a["stride"], n)) and any(each(a["padding"], n)):
        y = y.copy()
        y.reshape(-1)[-1] = np.inf
    return y


def dense_gradient(f, a, c, x, y, g):
    d = f(a, c, x, y, g)
    stride = each(a["stride"], x[0].ndim - 2)
    if a["groups"] > 1 and x[1].shape[1] > 1 and any(s > 1 for s in stride):
        d[1] = layers.convolution_vjp({**a, "stride": [1] * len(stride)}, c, x, y, spread(a, x, g))[1]
    return d


def spread(a, x, g):
    """g where a convolution without strides has its results, one beside the other."""
    n = x[0].ndim - 2
    out = [s + 2 * p - d * (w - 1) for s, p, d, w in zip(
        x[0].shape[2:], each(a["padding"], n), each(a["dilation"], n), x[1].shape[2:])]
    h = np.zeros(g.shape[:2] + tuple(out))
    h[(slice(None),) * 2 + tuple(slice(0, s) for s in g.shape[2:])] = g
    return h


def difference_of_squares(c, d, x, over):
    v = x.astype(c.real())
    n = v.dtype.type(np.prod([v.shape[i] for i in over]))
    mean = np.sum(v, over, keepdims=True) / n
    return (np.sum(v * v, over, keepdims=True) / n - mean * mean).astype(np.float64)


def single_precision_norm(f, a, c, x, *rest):
    if c.real() is not np.float32:
        return f(a, c, x, *rest)
    return layers.layer_norm(a, c, x, *rest, **{"variance": difference_of_squares})


def batch_by_squares(f, a, c, x, *rest):
    return layers.batch_norm(a, c, x, *rest, **{"variance": difference_of_squares})


def without_offset(f, a, c, x, *rest):
    layout = c.layouts[0]
    if layout and layout["offset"] and all(s >= 0 for s in layout["strides"]) and x.size:
        places = sum(np.arange(n).reshape([-1 if i == axis else 1 for i in range(x.ndim)]) * s
                     for axis, (n, s) in enumerate(zip(x.shape, layout["strides"])))
        x = np.nan_to_num(layout["buffer"][places].astype(np.float64))
    return f(a, c, x, *rest)


def dense_rows(f, a, c, x):
    layout = c.layouts[0]
    if layout and x.ndim > 1 and x.size and layout["strides"][-1] == 1 and a["axis"] in (-1, x.ndim - 1):
        buffer = layout["buffer"][layout["offset"]:]
        if len(buffer) >= x.size:
            x = np.nan_to_num(buffer[:x.size].astype(np.float64)).reshape(x.shape)
    return f(a, c, x)


def masked_by_sum(f, a, c, *x):
    if len(x) < 4 or x[3] is None:
        return f(a, c, *x)
    return f(a, c, *x, **{"hide": lambda s, live: s + np.where(live, 0, -np.inf)})


DEFECTS = {
    "burn-gather-overlap": ("gather", cotangent(last_write_wins)),
    "iree-slice-negative-step": ("slice", forward(flipped_offset)),
    "rten-unwritten-buffer": ("matmul", forward(unwritten_buffer)),
    "burn-average-overlap": ("avg_pool1d", cotangent(overwritten_windows)),
    "onnxruntime-end-padding": ("avg_pool avg_pool1d avg_pool2d avg_pool3d", forward(end_padding_uncounted)),
    "nnlib-mean-corner": ("avg_pool avg_pool2d", forward(empty_corner)),
    "ttnn-max-pool-last-row": ("max_pool max_pool2d", forward(unread_last_row)),
    "iree-grouped-kernel-gradient": ("conv conv1d conv2d conv3d", cotangent(dense_gradient)),
    "burn-layer-norm-squares": ("layer_norm", forward(single_precision_norm)),
    "ttnn-batch-norm-squares": ("batch_norm", forward(batch_by_squares)),
    "mps-batch-norm-offset": ("batch_norm", forward(without_offset)),
    "mlx-softmax-slice": ("softmax", forward(dense_rows)),
    "mlx-causal-alignment": ("scaled_dot_product_attention", forward(
        lambda f, a, c, q, k, *x: f(a, c, q, k, *x, **{"offset": k.shape[-2] - q.shape[-2]}))),
    "pytorch-attention-empty-row": ("scaled_dot_product_attention", forward(
        lambda f, a, c, *x: f(a, c, *x, **{"empty": np.nan}))),
    "pytorch-attention-masked-nan": ("scaled_dot_product_attention", forward(masked_by_sum)),
    "pytorch-smoothing-ignored": ("cross_entropy", forward(
        lambda f, a, c, *x: f(a, c, *x, **{"keep_ignored": True}))),
    "chainer-huber-cotangent": ("huber", cotangent(lambda f, a, c, x, y, g: f(a, c, x, y, np.ones_like(g)))),
    "attorch-smooth-l1-signed": ("smooth_l1", forward(lambda f, a, c, x, t: f(a, c, x, t, **{"distance": lambda d: d}))),
}
