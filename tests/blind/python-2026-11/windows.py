"""Convolutions and pooling of any rank: one strided view of the operand per place of the window."""
import itertools

import numpy as np

from core import Rule, linear_map, listed, planted


def places(extents):
    return itertools.product(*(range(n) for n in extents))


def window(a, rank):
    stride, padding, dilation = (listed(a.get(k, d), rank) for k, d in (("stride", 1), ("padding", 0), ("dilation", 1)))
    if planted("conv_stride_reversed") and "groups" in a:
        stride = stride[::-1]
    return stride, padding, dilation


def outputs(s, w, stride, padding, dilation):
    return [(n + 2 * p - d * (k - 1) - 1) // q + 1 for n, k, q, p, d in zip(s, w, stride, padding, dilation)]


def padded(x, padding, value=0.0):
    return np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=value)


def view(u, o, stride, dilation):
    return (slice(None),) * 2 + tuple(slice(i * d, i * d + q * (n - 1) + 1, q) if n else slice(0, 0)
                                      for i, n, q, d in zip(u, o, stride, dilation))


def grouped(x, groups):
    if planted("conv_groups_interleaved"):
        return np.swapaxes(x.reshape((x.shape[0], x.shape[1] // groups, groups) + x.shape[2:]), 1, 2)
    return x.reshape((x.shape[0], groups, x.shape[1] // groups) + x.shape[2:])


def filters(k, groups):
    return k.reshape((groups, k.shape[0] // groups) + k.shape[1:])


def conv(a, x, k, bias=None):
    w, groups = k.shape[2:], a["groups"]
    stride, padding, dilation = window(a, len(w))
    o = outputs(x.shape[2:], w, stride, padding, dilation)
    p, f = padded(x, padding), filters(k, groups)
    y = np.zeros((x.shape[0], groups, f.shape[1]) + tuple(o))
    for u in places(w):
        if y.size:
            y += np.einsum("bge...,gfe->bgf...", grouped(p[view(u, o, stride, dilation)], groups), f[(...,) + u])
    y = y.reshape((x.shape[0], k.shape[0]) + tuple(o))
    return y if bias is None else y + bias.reshape([-1] + [1] * len(w))


def conv_jvp(a, x, y, dx):
    total = np.zeros(y.shape)
    if dx[0] is not None:
        total = total + conv(a, dx[0], x[1])
    if dx[1] is not None:
        total = total + conv(a, x[0], dx[1])
    return total if len(dx) < 3 or dx[2] is None else total + dx[2].reshape([-1] + [1] * (y.ndim - 2))


def bias_vjp(g):
    return np.sum(g, tuple(i for i in range(g.ndim) if i != 1))


def crop(p, padding):
    return p[(slice(None),) * 2 + tuple(slice(n, p.shape[2 + i] - n) for i, n in enumerate(padding))]


def conv_vjp(a, x, y, g):
    v, k = x[:2]
    w, groups, o = k.shape[2:], a["groups"], g.shape[2:]
    stride, padding, dilation = window(a, len(w))
    p, f, h = padded(v, padding), filters(k, groups), g.reshape((g.shape[0], groups, -1) + o) if g.size else None
    c, q, n = np.zeros(p.shape), np.zeros(f.shape), int(np.prod(o))
    for u in places(w):
        if h is None:
            break
        part = np.einsum("bgf...,gfe->bge...", h, f[(...,) + u])
        c[view(u, o, stride, dilation)] += part.reshape((len(part), p.shape[1]) + o)
        seen = p[view(u, o, stride, [1] * len(w) if planted("conv_kernel_vjp_dilation") else dilation)]
        q[(...,) + u] = np.einsum("bgfn,bgen->gfe", h.reshape(h.shape[:3] + (n,)),
                                  grouped(seen, groups).reshape(seen.shape[0], groups, seen.shape[1] // groups, n))
    return [crop(c, padding), q.reshape(k.shape)] + ([bias_vjp(g)] if len(x) > 2 else [])


def transposed(a, x, k):
    """Extents of the whole result before it is cropped, and of the result."""
    w = k.shape[2:]
    stride, padding, dilation = window(a, len(w))
    extra = listed(a["output_padding"], len(w))
    whole = [(n - 1) * q + d * (m - 1) + 1 + e for n, q, d, m, e in zip(x.shape[2:], stride, dilation, w, extra)]
    return w, stride, padding, dilation, extra, whole


def conv_transpose(a, x, k, bias=None):
    w, stride, padding, dilation, extra, whole = transposed(a, x, k)
    groups, e = a["groups"], k.shape[1]
    f = filters(k, groups)
    y = np.zeros((x.shape[0], groups * e) + tuple(max(n, 0) for n in whole))
    for u in places(w):
        if x.size:
            part = np.einsum("bgd...,gde->bge...", grouped(x, groups), f[(...,) + u])
            y[view(u, x.shape[2:], stride, dilation)] += part.reshape((x.shape[0], -1) + x.shape[2:])
    if planted("conv_transpose_output_padding"):
        y = np.roll(y, extra, range(2, y.ndim))
    y = crop(y, padding)
    return y if bias is None else y + bias.reshape([-1] + [1] * len(w))


def conv_transpose_jvp(a, x, y, dx):
    total = np.zeros(y.shape)
    if dx[0] is not None:
        total = total + conv_transpose(a, dx[0], x[1])
    if dx[1] is not None:
        total = total + conv_transpose(a, x[0], dx[1])
    return total if len(dx) < 3 or dx[2] is None else total + dx[2].reshape([-1] + [1] * (y.ndim - 2))


def conv_transpose_vjp(a, x, y, g):
    v, k = x[:2]
    w, stride, padding, dilation, _, _ = transposed(a, v, k)
    groups = a["groups"]
    f, p = filters(k, groups), padded(g, padding)
    c, q, n = np.zeros(v.shape), np.zeros(f.shape), int(np.prod(v.shape[2:]))
    for u in places(w):
        if not v.size:
            break
        h = grouped(p[view(u, v.shape[2:], stride, dilation)], groups)
        c += np.einsum("bge...,gde->bgd...", h, f[(...,) + u]).reshape(v.shape)
        q[(...,) + u] = np.einsum("bgdn,bgen->gde", grouped(v, groups).reshape(v.shape[0], groups, v.shape[1] // groups, n),
                                  h.reshape(h.shape[:3] + (n,)))
    return [c, q.reshape(k.shape)] + ([bias_vjp(g)] if len(x) > 2 else [])


def pool_window(a, x):
    s = x.shape[2:]
    stride, padding, dilation = window(a, len(s))
    kernel = listed(a["kernel"], len(s))
    return kernel, stride, padding, dilation, outputs(s, kernel, stride, padding, dilation)


def stacked(a, x, value):
    """The operand as seen from each place of the window, along a new last axis."""
    kernel, stride, padding, dilation, o = pool_window(a, x)
    p = padded(x, padding, value)
    return np.stack([p[view(u, o, stride, dilation)] for u in places(kernel)], -1)


def winners(a, x):
    """Which place of each window holds its first largest element; what lies outside of x never does."""
    seen, valid = stacked(a, x, -np.inf), stacked(a, np.ones(x.shape), 0.0) > 0
    if planted("max_pool_last_of_equals"):
        return seen.shape[-1] - 1 - np.argmax(seen[..., ::-1], -1)
    best = np.argmax(seen, -1)
    if planted("max_pool_all_infinite"):
        return best
    return np.where(np.take_along_axis(valid, best[..., None], -1)[..., 0], best, np.argmax(valid, -1))


def max_pool(a, x):
    return np.max(stacked(a, x, 0.0 if planted("max_pool_zero_padding") else -np.inf), -1)


def max_pool_jvp(a, x, y, dx):
    return np.take_along_axis(stacked(a, dx[0], 0.0), winners(a, x[0])[..., None], -1)[..., 0]


def max_pool_vjp(a, x, y, g):
    kernel, stride, padding, dilation, o = pool_window(a, x[0])
    c, best = np.zeros(padded(x[0], padding).shape), winners(a, x[0])
    for n, u in enumerate(places(kernel)):
        c[view(u, o, stride, dilation)] += np.where(best == n, g, 0.0)
    return [crop(c, padding)]


def cells(a, x):
    size = np.prod(listed(a["kernel"], x.ndim - 2), dtype=float)
    if a["count_include_pad"] or planted("avg_pool_counts_padding"):
        return size
    return np.sum(stacked(a, np.ones((1, 1) + x.shape[2:]), 0.0), -1)


def avg_pool_vjp(a, x, y, g):
    kernel, stride, padding, dilation, o = pool_window(a, x[0])
    c = np.zeros(padded(x[0], padding).shape)
    share = g / (np.prod(kernel, dtype=float) if planted("avg_pool_vjp_divisor") else cells(a, x[0]))
    for u in places(kernel):
        if planted("avg_pool_vjp_overlap"):
            c[view(u, o, stride, dilation)] = share
        else:
            c[view(u, o, stride, dilation)] += share
    return [crop(c, padding)]


def adaptive(a, x):
    """For each output window its place in the result and in x."""
    s = x.shape[2:]
    output = listed(a["output"], len(s))
    round_up = 0 if planted("adaptive_avg_pool_end") else 1
    for i in places(output):
        yield (slice(None),) * 2 + i, (slice(None),) * 2 + tuple(
            slice(j * n // m, max(j * n // m + 1, ((j + 1) * n + round_up * (m - 1)) // m)) for j, n, m in zip(i, s, output))


def adaptive_avg_pool(a, x):
    y = np.zeros(x.shape[:2] + tuple(listed(a["output"], x.ndim - 2)))
    for at, seen in adaptive(a, x):
        y[at] = np.mean(x[seen], tuple(range(2, x.ndim)))
    return y


def adaptive_avg_pool_vjp(a, x, y, g):
    c = np.zeros(x[0].shape)
    for at, seen in adaptive(a, x[0]):
        c[seen] += (g[at] / np.prod(c[seen].shape[2:])).reshape(g.shape[:2] + (1,) * (g.ndim - 2))
    return [c]


def upsample(a, x):
    for i, n in enumerate(listed(a["scale"], x.ndim - 2)):
        x = np.repeat(x, n, 2 + i)
    return x


def upsample_vjp(a, x, y, g):
    scale = listed(a["scale"], g.ndim - 2)
    split = list(g.shape[:2])
    for n, m in zip(x[0].shape[2:], scale):
        split += [n, m]
    blocks = np.reshape(g, split)
    if planted("upsample_vjp_corner"):
        return [blocks[(slice(None),) * 2 + (slice(None), 0) * len(scale)] * np.prod(scale)]
    return [np.sum(blocks, tuple(range(3, len(split), 2)))]


def family(name, rule, joins=True):
    return {n: rule for n in [name, name + "1d", name + "2d", name + "3d"]}


RULES = {
    **family("conv", Rule(conv, conv_jvp, conv_vjp)),
    **family("conv_transpose", Rule(conv_transpose, conv_transpose_jvp, conv_transpose_vjp)),
    **family("max_pool", Rule(max_pool, max_pool_jvp, max_pool_vjp)),
    **family("avg_pool", linear_map(lambda a, x: np.sum(stacked(a, x, 0.0), -1) / cells(a, x), avg_pool_vjp)),
    **family("adaptive_avg_pool", linear_map(adaptive_avg_pool, adaptive_avg_pool_vjp)),
    **family("upsample_nearest", linear_map(upsample, upsample_vjp)),
}
