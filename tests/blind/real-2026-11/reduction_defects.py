"""Defects of sums, products and extrema over axes."""
import numpy as np

import reductions
from elementwise_defects import cotangent, forward


def in_sequence(better):
    """The position that a loop finds which replaces its candidate where better(candidate, x) holds."""
    def position(f, a, c, x):
        rows = reductions.rows(a, x)
        best, place = rows[..., 0].copy(), np.zeros(rows.shape[:-1], np.int64)
        for i in range(1, rows.shape[-1]):
            wins = better(best, rows[..., i])
            best, place = np.where(wins, rows[..., i], best), np.where(wins, i, place)
        return reductions.kept(a, x, place)
    return forward(position)


def second_chunk(f, a, c, x):
    y = f(a, c, x)
    if x.size > 32768 and x.size == y.size:
        y = y.copy()
        y.reshape(-1)[32768:] = 32768
    return y


def forgetful_maximum(f, a, c, x):
    rows = reductions.rows(a, x)
    best = rows[..., 0].copy()
    for i in range(1, rows.shape[-1]):
        best = np.where(best > rows[..., i], best, rows[..., i])
    return reductions.kept(a, x, best)


def overflowing_products(f, a, c, x, y, g):
    whole = reductions.rows(a, x[0])
    if not np.any(whole == 0):
        return f(a, c, x, y, g)
    v = whole.astype(c.real())
    one = np.ones_like(v[..., :1])
    left = np.concatenate([one, np.cumprod(v[..., :-1], -1, dtype=v.dtype)], -1)
    right = np.concatenate([one, np.cumprod(v[..., :0:-1], -1, dtype=v.dtype)], -1)[..., ::-1]
    over = reductions.axes(a, x[0])
    d = (left * right).astype(np.float64)
    kept = [n for i, n in enumerate(x[0].shape) if i not in over]
    d = d.reshape(kept + [x[0].shape[i] for i in over])
    d = np.moveaxis(d, range(d.ndim - len(over), d.ndim), over)
    return [d * reductions.back(a, x[0], g)]


def product_of_all(f, a, c, x, y, g):
    if len(reductions.axes(a, x[0])) == x[0].ndim:
        return f(a, c, x, y, g)
    return [np.prod(x[0]) / x[0] * reductions.back(a, x[0], g)]


def axis_before(f, a, c, x):
    over = reductions.axes(a, x)
    if x.ndim != 5 or len(over) != 1 or over[0] == 0:
        return f(a, c, x)
    y = f(a, c, x)
    moved = x.sum(over[0] - 1, dtype=x.dtype).reshape(-1)
    found = np.zeros(y.size, y.dtype)
    found[:moved.size] = moved[:y.size]
    return found.reshape(y.shape)


def misread_rows(f, a, c, x):
    """A row of pooled cells that is read with a stride rounded up to 32."""
    made = c.makers.get(c.names[0])
    pooled = made and made[0] == "flatten" and c.makers.get(made[1][0])
    aligned = x.shape[-1] % 32 == 0 or x.shape[-1] < 32
    if not pooled or not pooled[0].startswith("adaptive") or x.ndim != 2 or reductions.axes(a, x) != (1,) or aligned:
        return f(a, c, x)
    stride = -(x.shape[1] // -32) * 32
    flat = np.concatenate([x.reshape(-1), np.zeros(stride * len(x))])
    rows = np.stack([flat[i * stride:i * stride + x.shape[1]] for i in range(len(x))])
    return f(a, c, rows)


def shifted_by_infinity(f, a, c, x):
    over = reductions.axes(a, x)
    if x.size == 0:
        return f(a, c, x)
    top = np.max(x, over, keepdims=True)
    y = top + np.log(np.sum(np.exp(x - top), over, keepdims=True))
    return y if a["keepdims"] else np.squeeze(y, over)


def restarted(f, a, c, x):
    n = x.shape[a["axis"]]
    if n <= 4096:
        return f(a, c, x)
    blocks = np.split(x, range(4096, n, 4096), a["axis"])
    return np.concatenate([f(a, c, b) for b in blocks], a["axis"])


def permuted_twice(f, a, c, x):
    axis = a["axis"] % x.ndim
    if axis == x.ndim - 1:
        return f(a, c, x)
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    return f({**a, "axis": -1}, c, x.transpose(order)).transpose(order)


def divided(filled):
    def vjp(f, a, c, x, y, g):
        v, w, h = ((np.moveaxis(t, a["axis"], -1)[..., ::-1] if a["reverse"] else np.moveaxis(t, a["axis"], -1))
                   for t in (x[0], y, g))
        d = reductions.from_behind(a, h * w) / v
        d = np.where(np.isnan(d), 0, d) if filled else d
        return [np.moveaxis(d[..., ::-1] if a["reverse"] else d, -1, a["axis"])]
    return cotangent(vjp)


DEFECTS = {
    "tinygrad-product-zero": ("prod", cotangent(
        lambda f, a, c, x, y, g: [reductions.back(a, x[0], y) * reductions.back(a, x[0], g) / x[0]])),
    "pytorch-product-overflow": ("prod", cotangent(overflowing_products)),
    "zygote-product-axes": ("prod", cotangent(product_of_all)),
    "mlx-argmax-nan": ("argmax", in_sequence(lambda best, x: x > best)),
    "tvm-argmin-nan": ("argmin", in_sequence(lambda best, x: (x < best) | (np.isnan(best) & ~np.isnan(x)))),
    "pytorch-argmax-ties": ("argmax", in_sequence(lambda best, x: (x >= best) | (np.isnan(x) & ~np.isnan(best)))),
    "pytorch-argmax-unit-axis": ("argmax", forward(second_chunk)),
    "tvm-reduce-max-nan": ("max", forward(forgetful_maximum)),
    "mps-sum-rank-five": ("sum", forward(axis_before)),
    "inductor-pool-sum": ("sum", forward(misread_rows)),
    "mlx-logsumexp-infinity": ("logsumexp", forward(shifted_by_infinity)),
    "mps-cumsum-int64": ("cumsum", forward(lambda f, a, c, x: x if x.dtype == np.int64 else f(a, c, x))),
    "jittor-cumsum-long": ("cumsum", forward(restarted)),
    "tfjs-cumsum-permutation": ("cumsum", forward(permuted_twice)),
    "burn-cumprod-zero": ("cumprod", divided(False)),
    "tensorflow-cumprod-zero": ("cumprod", divided(True)),
}
