"""Shapes, indices, products, windows, normalisation, attention and losses."""
import itertools

import numpy as np

from operation import Operation, each


def flattened(a, c, x):
    rank = max(1, x.ndim)
    first, last = a["start"] % rank, a["end"] % rank
    x = x.reshape(1) if x.ndim == 0 else x
    joined = int(np.prod(x.shape[first:last + 1]))
    return x.reshape(x.shape[:first] + (joined,) + x.shape[last + 1:])


def sliced(a, c, x):
    for axis, (start, stop, step) in enumerate(zip(*(each(a[k], x.ndim) for k in ("start", "stop", "step")))):
        x = np.take(x, np.arange(start, stop, step), axis)
    return x


def gathered(a, c, x, t):
    axis = a["axis"] % x.ndim
    inside = (t >= 0) & (t < x.shape[axis])
    if x.shape[axis] == 0:
        return np.zeros(x.shape[:axis] + t.shape + x.shape[axis + 1:], x.dtype)
    y = np.take(x, np.where(inside, t, 0), axis)
    mask = inside.reshape((1,) * axis + t.shape + (1,) * (x.ndim - axis - 1))
    return np.where(mask, y, x.dtype.type(0))


def gather_vjp(a, c, x, y, g):
    v, t = x
    axis = a["axis"] % v.ndim
    d = np.zeros(v.shape)
    rows, slices = np.moveaxis(d, axis, 0), np.moveaxis(g, range(axis, axis + t.ndim), range(t.ndim))
    for j in np.ndindex(t.shape):
        if 0 <= t[j] < v.shape[axis]:
            rows[t[j]] += slices[j]
    return [d, None]


def windows(a, x, kernel, fill):
    """Each place of the kernel, where it lies in x with its frame, and the part of the framed x under it."""
    n = len(kernel)
    stride, padding, dilation = (each(a.get(k, 1), n) for k in ("stride", "padding", "dilation"))
    framed = np.pad(x, [(0, 0)] * 2 + [(p, p) for p in padding], constant_values=fill)
    out = [(s - d * (k - 1) - 1) // t + 1 for s, d, k, t in zip(framed.shape[2:], dilation, kernel, stride)]
    for u in itertools.product(*map(range, kernel)):
        places = tuple(slice(i * d, i * d + (o - 1) * t + 1 if o > 0 else i * d, t)
                       for i, d, o, t in zip(u, dilation, out, stride))
        yield u, (slice(None),) * 2 + places, framed[(slice(None),) * 2 + places]


def convolved(a, c, x, k, bias=None):
    y, groups = None, a["groups"]
    for u, _, part in windows(a, x, k.shape[2:], 0):
        tap = k[(slice(None),) * 2 + u]
        v = part.reshape((part.shape[0], groups, k.shape[1]) + part.shape[2:])
        w = tap.reshape(groups, k.shape[0] // groups, k.shape[1])
        term = np.einsum("bge...,goe->bgo...", v, w)
        term = term.reshape((part.shape[0], k.shape[0]) + part.shape[2:])
        y = term if y is None else y + term
    if y is None:
        y = np.zeros((x.shape[0], k.shape[0]) + tuple(
            (s + 2 * p - d * (w - 1) - 1) // t + 1 for s, p, d, w, t in zip(x.shape[2:], *(
                each(a[n], x.ndim - 2) for n in ("padding", "dilation")), k.shape[2:], each(a["stride"], x.ndim - 2))))
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * (x.ndim - 2))


def convolution_vjp(a, c, x, y, g):
    v, k, groups = x[0], x[1], a["groups"]
    padding = each(a["padding"], v.ndim - 2)
    dv = np.zeros(v.shape[:2] + tuple(s + 2 * p for s, p in zip(v.shape[2:], padding)))
    dk = np.zeros(k.shape)
    h = g.reshape((g.shape[0], groups, k.shape[0] // groups) + g.shape[2:])
    for u, places, part in windows(a, v, k.shape[2:], 0):
        tap = k[(slice(None),) * 2 + u].reshape(groups, k.shape[0] // groups, k.shape[1])
        dv[places] += np.einsum("bgo...,goe->bge...", h, tap).reshape(part.shape)
        w = part.reshape((part.shape[0], groups, k.shape[1]) + part.shape[2:])
        flat = [t.reshape(t.shape[:3] + (int(np.prod(t.shape[3:])),)) for t in (h, w)]
        dk[(slice(None),) * 2 + u] = np.einsum("bgos,bges->goe", *flat).reshape(k.shape[:2])
    inner = (slice(None),) * 2 + tuple(slice(p, p + s) for p, s in zip(padding, v.shape[2:]))
    bias = g.sum((0,) + tuple(range(2, g.ndim)))
    return [dv[inner], dk, bias if len(x) > 2 and x[2] is not None else None][:len(x)]


def largest(a, c, x):
    y = None
    for _, _, part in windows(a, x, each(a["kernel"], x.ndim - 2), -np.inf):
        y = part if y is None else np.maximum(y, part)
    return y


def cells(a, x):
    """How many places of each window count."""
    kernel = each(a["kernel"], x.ndim - 2)
    if a["count_include_pad"]:
        return float(np.prod(kernel))
    return sum(part for _, _, part in windows(a, np.ones((1, 1) + x.shape[2:]), kernel, 0))


def averaged(a, c, x):
    return sum(part for _, _, part in windows(a, x, each(a["kernel"], x.ndim - 2), 0)) / cells(a, x)


def average_vjp(a, c, x, y, g):
    padding = each(a["padding"], x[0].ndim - 2)
    d = np.zeros(x[0].shape[:2] + tuple(s + 2 * p for s, p in zip(x[0].shape[2:], padding)))
    for _, places, _ in windows(a, x[0], each(a["kernel"], x[0].ndim - 2), 0):
        d[places] += g / cells(a, x[0])
    return [d[(slice(None),) * 2 + tuple(slice(p, p + s) for p, s in zip(padding, x[0].shape[2:]))]]


def adapted(a, c, x):
    output = each(a["output"], x.ndim - 2)
    y = np.zeros(x.shape[:2] + tuple(output))
    for i in np.ndindex(*output):
        part = tuple(slice(j * s // o, -((j + 1) * s // -o)) for j, s, o in zip(i, x.shape[2:], output))
        y[(slice(None),) * 2 + i] = x[(slice(None),) * 2 + part].mean(tuple(range(2, x.ndim)))
    return y


def softmax(a, c, x):
    top = np.max(x, a["axis"], keepdims=True, initial=-np.inf)
    e = np.exp(x - top)
    return e / np.sum(e, a["axis"], keepdims=True)


def variance(c, d, x, over):
    """The mean square of the distances d from the mean of x."""
    return np.mean(d * d, over, keepdims=True)


def layer_norm(a, c, x, gamma=None, beta=None, variance=variance):
    over = tuple(i % x.ndim for i in a["axes"])
    d = x - np.mean(x, over, keepdims=True)
    y = d / np.sqrt(variance(c, d, x, over) + a["eps"])
    turned = np.moveaxis(y, over, range(y.ndim - len(over), y.ndim))
    turned = turned if gamma is None else turned * gamma
    turned = turned if beta is None else turned + beta
    return np.moveaxis(turned, range(y.ndim - len(over), y.ndim), over)


def batch_norm(a, c, x, gamma=None, beta=None, mean=None, old=None, variance=variance):
    axis = a["axis"] % x.ndim
    rest = tuple(i for i in range(x.ndim) if i != axis)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    mean = np.zeros(x.shape[axis]) if mean is None else mean
    old = np.ones(x.shape[axis]) if old is None else old
    mu = np.mean(x, rest, keepdims=True) if a["training"] else mean.reshape(shape)
    d = x - mu
    v = variance(c, d, x, rest) if a["training"] else old.reshape(shape)
    y = d / np.sqrt(v + a["eps"])
    y = y if gamma is None else y * gamma.reshape(shape)
    y = y if beta is None else y + beta.reshape(shape)
    if not a["training"]:
        return y, mean, old
    n, m = x.size // max(1, x.shape[axis]), a["momentum"]
    return y, (1 - m) * mean + m * mu.reshape(-1), (1 - m) * old + m * (v.reshape(-1) * n / (n - 1))


def attention(a, c, q, k, v, mask=None, scale=None, offset=0, hide=None, empty=0.0):
    m, n = q.shape[-2], k.shape[-2]
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    live = np.ones((m, n), bool) if mask is None else mask
    if a["causal"]:
        live = live & (np.arange(n) <= np.arange(m)[:, None] + offset)
    s, live = np.broadcast_arrays(s, live)
    shown = hide(s, live) if hide else np.where(live, s, -np.inf)
    top = np.max(shown, -1, keepdims=True, initial=-np.inf)
    some = live.any(-1, keepdims=True)
    hidden = ~live & ~np.isnan(shown)
    w = np.where(hidden, 0, np.exp(shown - np.where(some, top, 0)))
    y = np.matmul(np.where(hidden, 0, w / w.sum(-1, keepdims=True)), v)
    return y if empty == 0 else np.where(some, y, empty)


def entropy_parts(a, x, t, w):
    """By row: the weight, the loss of the class, and the weighted sum of all classes' losses."""
    x = np.moveaxis(x, a["axis"], -1)
    z = x - np.max(x, -1, keepdims=True)
    l = z - np.log(np.sum(np.exp(z), -1, keepdims=True))
    w = np.ones(x.shape[-1]) if w is None else w
    inside, ignored = (t >= 0) & (t < x.shape[-1]), t == a["ignore_index"]
    safe = np.where(inside, t, 0)
    weight = np.where(ignored, 0.0, np.where(inside, w[safe], 1.0))
    picked = np.take_along_axis(l, safe[..., None], -1)[..., 0]
    return weight, np.where(inside, -weight * picked, np.nan), -np.sum(w * l, -1), ignored, x.shape[-1]


def cross_entropy(a, c, x, t, w=None, keep_ignored=False):
    weight, hit, all_classes, ignored, classes = entropy_parts(a, x, t, w)
    e = a["label_smoothing"]
    hit = np.where(ignored, 0, hit)
    if not keep_ignored:
        all_classes = np.where(ignored, 0, all_classes)
    each_row = hit if e == 0 else (1 - e) * hit + e / classes * all_classes
    if a["reduction"] == "none":
        return each_row
    if a["reduction"] == "sum":
        return each_row.sum()
    if e and keep_ignored and w is None:
        return (1 - e) * hit.sum() / weight.sum() + e / classes * all_classes.mean()
    return each_row.sum() / weight.sum()


def reduced(a, y):
    return {"none": lambda: y, "sum": lambda: y.sum(), "mean": lambda: y.sum() / y.size}[a["reduction"]]()


def huber(a, c, x, t):
    d, delta = np.abs(x - t), a["delta"]
    return reduced(a, np.where(d > delta, delta * (d - delta / 2), d * d / 2))


def huber_vjp(a, c, x, y, g):
    d, delta = x[0] - x[1], a["delta"]
    slope = np.where(np.abs(d) > delta, delta * np.sign(d), d)
    g = slope * (g / d.size if a["reduction"] == "mean" else g)
    return [g, -g]


def smooth_l1(a, c, x, t, distance=np.abs):
    d, beta = x - t, a["beta"]
    return reduced(a, np.where(distance(d) >= beta, np.abs(d) - beta / 2, d * d / (2 * beta)))


CONV, AVERAGE = Operation(convolved, convolution_vjp), Operation(averaged, average_vjp)
TABLE = {
    "flatten": Operation(flattened), "slice": Operation(sliced), "gather": Operation(gathered, gather_vjp),
    "matmul": Operation(lambda a, c, x, y: np.matmul(x, y)),
    "conv": CONV, "conv1d": CONV, "conv2d": CONV, "conv3d": CONV,
    "avg_pool": AVERAGE, "avg_pool1d": AVERAGE, "avg_pool2d": AVERAGE, "avg_pool3d": AVERAGE,
    "softmax": Operation(softmax), "layer_norm": Operation(layer_norm), "batch_norm": Operation(batch_norm),
    "scaled_dot_product_attention": Operation(attention), "cross_entropy": Operation(cross_entropy),
    "huber": Operation(huber, huber_vjp), "smooth_l1": Operation(smooth_l1),
}
for rank in ("", "1d", "2d", "3d"):
    TABLE["max_pool" + rank], TABLE["adaptive_avg_pool" + rank] = Operation(largest), Operation(adapted)
