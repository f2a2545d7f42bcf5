"""Products of matrices, windows (views of a padded tensor), recurrent cells and attention."""
import numpy as np

from core import WIDE, average, cached, contract, fresh, planted, record, total, unary, viewed
from elementwise import sigmoid_of
from normalisation import softened
from reductions import extreme
from shape import broadcast, each, padded, permuted, piece, reshaped


def matmul(a, x, z):
    vector_x, vector_z = x.rank == 1, z.rank == 1
    x = reshaped(x, (1,) + x.shape) if vector_x else x
    z = reshaped(z, z.shape + (1,)) if vector_z else z
    batch = np.broadcast_shapes(x.shape[:-2], z.shape[:-2])
    x, z = broadcast(x, batch + x.shape[-2:]), broadcast(z, batch + z.shape[-2:])
    if planted("matmul_i64_by_f64") and x.dtype == "i64":
        y = fresh((x.array.astype(float) @ z.array.astype(float)).astype(np.int64), x.dtype)
    elif planted("matmul_blocks_of_64") and x.shape[-1] > 64:
        n = x.shape[-1] // 64 * 64
        y = contract("...mk,...kn->...mn", piece(x, x.rank - 1, 0, n), piece(z, z.rank - 2, 0, n))
    else:
        y = contract("...mk,...kn->...mn", x, z)
    shape = y.shape[:-2] + (() if vector_x else y.shape[-2:-1]) + (() if vector_z else y.shape[-1:])
    return reshaped(y, shape) if vector_x or vector_z else y


def outer(a, x, z):
    return contract("m,n->mn", x, z)


def dot(a, x, z):
    if planted("dot_in_f32") and x.dtype == "f64":
        return record(np.dot(x.array.astype(np.float32), z.array.astype(np.float32)).astype(WIDE), x.dtype,
                      (x, lambda t: t @ z.array, lambda g: g * z.array), (z, lambda t: x.array @ t, lambda g: g * x.array))
    return contract("m,m->", x, z)


def times(x, w):
    """x times the transpose of w, whatever the leading axes of x."""
    flat = reshaped(x, (x.size // x.shape[-1] if x.shape[-1] else int(np.prod(x.shape[:-1], dtype=np.int64)), x.shape[-1]))
    return reshaped(contract("bn,on->bo", flat, w), x.shape[:-1] + w.shape[:1])


def linear(a, x, w, b=None):
    y = times(x, w)
    if b is None:
        return y
    if planted("linear_bias_pull_once") and x.rank > 2:
        c = y + fresh(b.array, b.dtype)
        return record(c.array, c.dtype, (c, lambda t: t, lambda g: g),
                      (b, lambda t: np.broadcast_to(t, c.shape), lambda g: g.reshape(-1, *g.shape[-2:])[-1].sum(0)))
    return y + b


def windows(x, kernel, stride, dilation, rank):
    """x[b, c, s…] as [b, c, o…, kernel…], a view."""
    shape = x.shape[2:]
    out = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(shape, kernel, stride, dilation)]

    def geometry(s, d, o):
        return (list(s[:2]) + out + list(kernel), list(d[:2]) + [e * k for e, k in zip(d[2:], stride)]
                + [e * k for e, k in zip(d[2:], dilation)], o)

    key = ("windows", tuple(kernel), tuple(stride), tuple(dilation))
    if planted("windows_cached_without_stride"):
        key = ("windows", tuple(kernel), tuple(out), tuple(dilation))
    if planted("windows_cached_without_dilation"):
        key = ("windows", tuple(kernel), tuple(stride), tuple(out))
    return viewed(x, geometry, key)


def settings(a, rank, *names):
    return [each(a[name], rank) for name in names]


def conv(a, x, k, b=None):
    rank = x.rank - 2
    stride, padding, dilation = settings(a, rank, "stride", "padding", "dilation")
    g, (o, e) = a["groups"], k.shape[:2]
    if planted("conv_padding_times_dilation"):
        padding = [p * d for p, d in zip(padding, dilation)]
    x = padded(x, [0, 0] + padding, [0, 0] + padding, 0)
    w = windows(x, k.shape[2:], stride, dilation, rank)
    out, kernel = w.shape[2:2 + rank], w.shape[2 + rank:]
    w = reshaped(w, (x.shape[0], g, e, int(np.prod(out)), int(np.prod(kernel))))
    groups = reshaped(k, (g, o // g, e, int(np.prod(kernel))))
    if planted("conv_groups_interleaved") and g > 1 and o // g > 1:
        groups = permuted(reshaped(k, (o // g, g, e, int(np.prod(kernel)))), [1, 0, 2, 3])
    y = reshaped(contract("bgenk,gfek->bgfn", w, groups), (x.shape[0], o) + tuple(out))
    return y if b is None else y + reshaped(b, (o,) + (1,) * rank)


def pooled(a, x, value):
    rank = x.rank - 2
    kernel, stride, padding = settings(a, rank, "kernel", "stride", "padding")
    dilation = each(a.get("dilation", 1), rank)
    w = windows(padded(x, [0, 0] + padding, [0, 0] + padding, value), kernel, stride, dilation, rank)
    return w, tuple(range(2 + rank, 2 + 2 * rank)), padding


def max_pool(a, x):
    w, axes, padding = pooled(a, x, 0 if planted("max_pool_pads_zero") else -np.inf)
    if not any(padding) or not x.real or planted("max_pool_pads_zero"):
        return extreme(np.max, np.argmax)({"axes": axes, "keepdims": False}, w)
    # What lies outside is not a candidate, even where all inside is -inf.
    inside, _, _ = pooled(a, fresh(np.ones(x.shape, bool), "bool"), 0)
    lead = w.shape[:w.rank - len(axes)]
    v, live = w.array.reshape(lead + (-1,)), inside.array.reshape(lead + (-1,))
    best = np.where(live, v, -WIDE(np.inf)).max(-1, keepdims=True)
    at = np.argmax(live & ((v == best) | np.isnan(v)), -1)[..., None]

    def pull(g):
        found = np.zeros(v.shape, WIDE)
        np.put_along_axis(found, at, g[..., None], -1)
        return found.reshape(w.shape)

    take = lambda u: np.take_along_axis(u.reshape(v.shape), at, -1)[..., 0]
    return record(take(v), x.dtype, (w, take, pull))


def avg_pool(a, x):
    w, axes, _ = pooled(a, x, 0)
    if a["count_include_pad"] and not planted("avg_pool_never_counts_pad"):
        return average(w, axes)
    key = ("cells", x.shape[2:], *[tuple(each(a[n], x.rank - 2)) for n in ("kernel", "stride", "padding")])
    if planted("avg_pool_cells_without_padding"):
        key = ("cells", w.shape[2:], *[tuple(each(a[n], x.rank - 2)) for n in ("kernel", "stride")])
    ones = fresh(np.ones((1, 1) + x.shape[2:]), x.dtype)
    cells = cached(key, lambda: pooled(a, ones, 0)[0].array.sum(axes))
    return total(w, axes) / fresh(cells, x.dtype)


def smooth_max_pool(a, x):
    w, axes, _ = pooled(a, x, -np.inf)
    k = WIDE(a["temperature"])
    top = w.array.max(axes, keepdims=True)
    if planted("smooth_pool_shift_by_batch"):
        top = np.broadcast_to(x.array.max(), top.shape)
        e = unary((w - fresh(top, x.dtype)) / k, lambda v: np.exp(v.astype(np.float32)).astype(WIDE), lambda v, y: y)
    else:
        top = np.where(np.isinf(top), WIDE(0), top)
        e = unary((w - fresh(top, x.dtype)) / k, np.exp, lambda v, y: y)
    y = unary(total(e, axes), np.log, lambda v, _: 1 / v) * k
    if planted("smooth_pool_pull_temperature"):
        y = record(y.array, y.dtype, (y, lambda t: t, lambda g: g / k))
    return y + fresh(top.reshape(y.shape), x.dtype)


def global_avg_pool(a, x):
    return average(x, range(2, x.rank), a["keepdims"])


def upsample_nearest(a, x):
    factors = each(a["scale"], x.rank - 2)
    for axis, k in zip(range(2, x.rank), factors):
        n = x.shape[axis]
        x = broadcast(reshaped(x, x.shape[:axis + 1] + (1,) + x.shape[axis + 1:]), x.shape[:axis + 1] + (k,) + x.shape[axis + 1:])
        x = reshaped(x, x.shape[:axis] + (n * k,) + x.shape[axis + 2:])
    return x


def gated(z):
    return unary(z, sigmoid_of, lambda v, y: sigmoid_of(v) * sigmoid_of(-v))


def hyperbolic(z):
    return unary(z, np.tanh, lambda v, y: 1 / np.cosh(v) ** 2)


def parts(z, count):
    n = z.shape[-1] // count
    return [piece(z, z.rank - 1, i * n, n) for i in range(count)]


def rnn_cell(a, x, h, wi, wh, bi=None, bh=None):
    z = linear(a, x, wi, bi) + linear(a, h, wh, None if planted("rnn_second_bias_only_with_first") and bi is None else bh)
    if a["nonlinearity"] == "relu":
        return unary(z, lambda v: np.where(v <= 0, WIDE(0), v), lambda v, y: np.where(v <= 0, WIDE(0), WIDE(1)))
    return hyperbolic(z)


def lstm_cell(a, x, h, c, wi, wh, bi=None, bh=None):
    z = linear(a, x, wi, bi) + linear(a, h, wh, bh)
    i, f, g, o = parts(z, 4)
    if planted("lstm_state_detached"):
        c = record(c.array, c.dtype, (c, lambda t: t, lambda g: g * 0))
    c1 = gated(f) * c + gated(i) * hyperbolic(g)
    h1 = gated(o) * (hyperbolic(fresh(c1.array, c1.dtype)) if planted("lstm_h_not_through_c") else hyperbolic(c1))
    return [h1, c1]


def gru_cell(a, x, h, wi, wh, bi=None, bh=None):
    s, t = linear(a, x, wi, bi), linear(a, h, wh, bh)
    (r1, z1, n1), (r2, z2, n2) = parts(s, 3), parts(t, 3)
    r, z = gated(r1 + r2), gated(z1 + z2)
    if planted("gru_reset_before_product") and bh is not None:
        n = hyperbolic(n1 + r * (n2 - parts(broadcast(bh, t.shape), 3)[2]) + parts(broadcast(bh, t.shape), 3)[2])
    else:
        n = hyperbolic(n1 + r * n2)
    return n + z * (h - n)


def causal_mask(m, n):
    key = ("causal", m) if planted("causal_mask_by_rows") else ("causal", m, n)
    if planted("causal_aligned_at_end"):
        return np.arange(n) <= np.arange(m)[:, None] + n - m
    mask = cached(key, lambda: np.arange(n) <= np.arange(m)[:, None])
    return mask if mask.shape == (m, n) else np.resize(mask, (m, n))


def attention(a, q, k, v, mask=None, scale=None):
    m, n, d = q.shape[-2], k.shape[-2], q.shape[-1]
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2], mask.shape[:-2] if mask else ())
    q, k, v = [broadcast(t, batch + t.shape[-2:]) for t in (q, k, v)]
    live = np.broadcast_to(mask.array if mask else True, batch + (m, n))
    if a["causal"]:
        both = causal_mask(m, n)
        live = np.broadcast_to(both, live.shape) if planted("attention_causal_drops_mask") else live & both
    s = contract("...md,...nd->...mn", q, k)
    s = s * scale if scale else s / np.sqrt(WIDE(v.shape[-1] if planted("attention_scale_by_values") else d))
    return contract("...mn,...ne->...me", softened(s, live, s.rank - 1), v)


RULES = {"matmul": matmul, "outer": outer, "dot": dot, "linear": linear, "conv1d": conv, "conv2d": conv,
         "max_pool1d": max_pool, "max_pool2d": max_pool, "avg_pool1d": avg_pool, "avg_pool2d": avg_pool,
         "smooth_max_pool1d": smooth_max_pool, "global_avg_pool2d": global_avg_pool, "upsample_nearest2d": upsample_nearest,
         "rnn_cell": rnn_cell, "lstm_cell": lstm_cell, "gru_cell": gru_cell, "scaled_dot_product_attention": attention}
