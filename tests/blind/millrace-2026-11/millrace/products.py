"""Products of matrices and vectors. Contractions are blocked; a block of BLOCK terms is one product of NumPy's."""
import math

import numpy as np

from .rule import Op, summed, unbroadcast
from .switch import planted

BLOCK = 32


def blocked(a, b):
    """a[..., m, k] times b[..., k, n], added up in blocks of k."""
    k = a.shape[-1]
    if k <= BLOCK:
        return np.matmul(a, b)
    out = np.matmul(a[..., :BLOCK], b[..., :BLOCK, :])
    for s in range(BLOCK, k, BLOCK):
        out = out + np.matmul(a[..., s:s + BLOCK], b[..., s:s + BLOCK, :])
    return out


def matrices(a, b):
    """Vectors as matrices of one row or column."""
    return (a[None, :] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)


def shaped(c, y):
    a, b = c.x
    if a.ndim == 1 and b.ndim == 1:
        return y[..., 0, 0]
    if a.ndim == 1:
        return y[..., 0, :]
    return y[..., 0] if b.ndim == 1 else y


def matmul_of(c, a, b):
    return shaped(c, blocked(*matrices(a, b)))


def matmul_jvp(c, ts):
    a, b = c.x
    return [summed([None if ts[0] is None else matmul_of(c, ts[0], b), None if ts[1] is None else matmul_of(c, a, ts[1])])]


def turned(x):
    return np.swapaxes(x, -1, -2)


def matmul_vjp(c, gs):
    a, b = c.x
    g = gs[0]
    if a.ndim == 1:
        g = g[..., None, :] if b.ndim > 1 else g[..., None]
    if b.ndim == 1:
        g = g[..., None]
    m, n = matrices(a, b)
    da = blocked(g, turned(n)) if c.wanted[0] else None
    db = blocked(turned(m), g) if c.wanted[1] else None
    if da is not None:
        if planted("matmul_vjp_broadcast_first") and da.ndim > m.ndim and m.ndim > 1:
            da = da[(0,) * (da.ndim - m.ndim)]
        da = unbroadcast(da, m.shape).reshape(a.shape)
    if db is not None:
        db = unbroadcast(db, n.shape).reshape(b.shape)
    return [da, db]


Op("matmul", "call", lambda c: [matmul_of(c, *c.x)], matmul_jvp, matmul_vjp)
Op("dot", "call", lambda c: [matmul_of(c, *c.x)], matmul_jvp, lambda c, gs: [gs[0] * c.x[1], gs[0] * c.x[0]])


def outer_jvp(c, ts):
    a, b = c.x
    return [summed([None if ts[0] is None else ts[0][:, None] * b, None if ts[1] is None else a[:, None] * ts[1]])]


def outer_vjp(c, gs):
    a, b = c.x
    g = gs[0]
    return [(g * b).sum(1), (g * a[:, None]).sum(0)]


Op("outer", "call", lambda c: [c.x[0][:, None] * c.x[1]], outer_jvp, outer_vjp)


def linear_forward(c):
    x, w, b = (c.x + [None])[:3]
    y = blocked(x[..., None, :], w.T)[..., 0, :]
    return [y if b is None else y + b]


def linear_jvp(c, ts):
    x, w = c.x[:2]
    tb = ts[2] if len(ts) > 2 else None
    parts = [None if ts[0] is None else blocked(ts[0][..., None, :], w.T)[..., 0, :],
             None if ts[1] is None else blocked(x[..., None, :], ts[1].T)[..., 0, :]]
    y = summed(parts)
    if tb is None or planted("linear_jvp_without_bias"):
        return [y if y is not None else np.zeros(c.y[0].shape, c.wide)]
    return [np.broadcast_to(tb, c.y[0].shape) if y is None else y + tb]


def linear_vjp(c, gs):
    x, w = c.x[:2]
    g = gs[0]
    count = math.prod(g.shape[:-1])
    rows, flat = g.reshape(count, w.shape[0]), x.reshape(count, w.shape[1])
    bias = rows.sum(0)
    return [np.matmul(g[..., None, :], w)[..., 0, :], np.matmul(rows.T, flat), bias][:len(c.x)]


Op("linear", "call", linear_forward, linear_jvp, linear_vjp)
