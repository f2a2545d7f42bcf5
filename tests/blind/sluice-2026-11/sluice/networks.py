"""Decompositions: attention, positions and recurrent cells."""
import numpy as np

from .elementwise import relu, sigmoid, tanh
from .normal import softmax_where
from .products import affine, matmul, transposed
from .registry import register
from .small import expand, part, permute, reshape
from .switch import on
from .tape import lift, node


def causal_mask(m, n):
    ahead = n - m if on("causal_from_last_corner") else 0
    return np.arange(n)[None, :] <= np.arange(m)[:, None] + ahead


@register("scaled_dot_product_attention")
def attention(c, q, k, v, mask=None, scale=None):
    m, n = q.shape[-2], k.shape[-2]
    s = matmul(q, transposed(k))
    width = v.shape[-1] if on("scale_from_value_width") else q.shape[-1]
    s = s * (scale if scale is not None else lift(1 / np.sqrt(np.asarray(width, c.w))))
    shape = s.shape
    live = np.ones((m, n), bool)
    if mask is not None:
        shape = np.broadcast_shapes(s.shape, mask.shape[:-2] + (m, n))
        live = np.broadcast_to(mask.a, np.broadcast_shapes(mask.shape, (m, n)))
    if c.causal:
        live = live & causal_mask(m, n)
    a = softmax_where(expand(s, shape), np.broadcast_to(live, shape), len(shape) - 1)
    return matmul(a, v)


@register("multi_head_attention")
def multi_head_attention(c, x, wq, wk, wv, wo, bq=None, bk=None, bv=None, bo=None, mask=None):
    n, heads, wide = x.shape[-2], c.heads, wq.shape[0]
    e = wide // heads
    lead = x.shape[:-2]
    k = len(lead)

    def split(p):
        return permute(reshape(p, lead + (n, heads, e)), list(range(k)) + [k + 1, k, k + 2])
    q, p, v = split(affine(x, wq, bq)), split(affine(x, wk, bk)), split(affine(x, wv, bv))
    s = matmul(q, transposed(p)) / np.sqrt(np.asarray(e, c.w))
    live = np.ones((n, n), bool) if mask is None else mask.a
    if c.causal:
        live = live & np.tril(np.ones((n, n), bool))
    a = softmax_where(s, np.broadcast_to(live, s.shape), s.ndim - 1)
    h = permute(matmul(a, v), list(range(k)) + [k + 1, k, k + 2])
    return affine(reshape(h, lead + (n, wide)), wo, bo)


def turns(w, base, i, width):
    """base^(-2i/width) in the wide type."""
    return np.power(np.asarray(base, w), -2 * i.astype(w) / w(width))


@register("rope")
def rope(c, x, pos=None):
    n, d = x.shape[-2:]
    at = np.arange(n) if pos is None else pos.a
    angle = at.astype(c.w)[:, None] * turns(c.w, c.base, np.arange(d // 2), max(d, 1))[None, :]
    cosine, sine = np.cos(angle), np.sin(angle)

    def turn(a, sign):
        y = np.empty_like(a)
        if c.pairing == "interleaved":
            first, second = slice(0, None, 2), slice(1, None, 2)
        else:
            first, second = slice(0, d // 2), slice(d // 2, None)
        p, q = a[..., first], a[..., second]
        y[..., first] = p * cosine - sign * q * sine
        y[..., second] = sign * p * sine + q * cosine
        return y
    return node(turn(x.a, 1), (x, lambda g: turn(np.array(g), -1), lambda d_: turn(np.array(d_), 1)))


@register("sinusoidal_encoding", result="dtype")
def sinusoidal_encoding(c, pos):
    width = c.width
    j = np.arange((width + 1) // 2)
    angle = pos.a.astype(c.w)[..., None] * turns(c.w, c.base, j, max(width, 1))
    y = np.empty(pos.shape + (width,), c.w)
    y[..., 0::2] = np.sin(angle)
    y[..., 1::2] = np.cos(angle[..., :width // 2])
    return lift(y)


def gates(z, n, count):
    return [part(z, Ellipsis, slice(i * n, (i + 1) * n)) for i in range(count)]


@register("rnn_cell")
def rnn_cell(c, x, h, wi, wh, bi=None, bh=None):
    z = affine(x, wi, bi) + affine(h, wh, bh)
    return relu(z) if c.nonlinearity == "relu" else tanh(z)


@register("lstm_cell")
def lstm_cell(c, x, h, cell, wi, wh, bi=None, bh=None):
    n = h.shape[-1]
    i, f, g, o = gates(affine(x, wi, bi) + affine(h, wh, bh), n, 4)
    cell1 = sigmoid(f) * cell + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(cell1), cell1


@register("gru_cell")
def gru_cell(c, x, h, wi, wh, bi=None, bh=None):
    n = h.shape[-1]
    r0, u0, n0 = gates(affine(x, wi, bi), n, 3)
    if on("gru_hidden_bias_outside_reset") and bh is not None:
        r1, u1, n1 = gates(affine(h, wh), n, 3)
        b = gates(bh, n, 3)
        r, u = sigmoid(r0 + r1 + b[0]), sigmoid(u0 + u1 + b[1])
        new = tanh(n0 + r * n1 + b[2])
    else:
        r1, u1, n1 = gates(affine(h, wh, bh), n, 3)
        r, u = sigmoid(r0 + r1), sigmoid(u0 + u1)
        new = tanh(n0 + r * n1)
    return (1 - u) * new + u * h
