"""Attention and positions, on the tape."""
import numpy as np

from . import tape as T
from .rule import need
from .switch import planted
from .tape import Var, lowered


def flipped(x):
    n = x.v.ndim
    return T.transpose(x, list(range(n - 2)) + [n - 1, n - 2])


def admitted(scores, live):
    """Softmax of the last axis over what is admitted; rows that admit nothing are 0."""
    live = np.broadcast_to(live, scores.v.shape)
    if not scores.v.shape[-1]:
        return scores
    top = np.where(live, scores.v, -np.inf).max(-1, keepdims=True)
    top = np.where(live.any(-1, keepdims=True), top, 0)
    w = T.where(live, T.exp(T.where(live, scores - Var(top), 0.0)), 0.0)
    total = T.total(w, (-1 % scores.v.ndim,), True)
    if planted("attention_empty_row_is_mean"):
        n = scores.v.shape[-1]
        none = np.broadcast_to(~live.any(-1, keepdims=True), scores.v.shape)
        w = T.where(none, 1.0, w)
        total = T.where(none[..., :1], float(n), total)
        return w / total
    safe = T.where(total.v == 0, 1.0, total) if not live.all() else total
    return T.where(live, w / safe, 0.0)


def causal_mask(m, n):
    return np.arange(n)[None, :] <= np.arange(m)[:, None]


@lowered("scaled_dot_product_attention")
def attention(c, a, q, k, v, mask=None, scale=None):
    m, n, d = q.v.shape[-2], k.v.shape[-2], q.v.shape[-1]
    live = np.ones((m, n), bool)
    if mask is not None:
        live = mask
    if a["causal"] and not (mask is not None and planted("causal_dropped_with_mask")):
        live = live & causal_mask(m, n)
    lead = np.broadcast_shapes(q.v.shape[:-2], live.shape[:-2])
    live = np.broadcast_to(live, lead + (m, n))
    s = T.matmul(q, flipped(k))
    if scale is not None:
        s = s * scale
    else:
        s = s * (1 / np.sqrt(np.asarray(d, s.v.dtype)))
    if s.v.shape != live.shape:
        s = s + Var(np.zeros(live.shape, s.v.dtype))
    return T.matmul(admitted(s, live), v)


@lowered("multi_head_attention")
def multi_head(c, a, x, wq, wk, wv, wo, bq=None, bk=None, bv=None, bo=None, mask=None):
    heads, width = a["heads"], wq.v.shape[0]
    lead, n = x.v.shape[:-2], x.v.shape[-2]
    e = width // heads
    rank = len(lead)

    def projected(w, b):
        y = T.matmul(x, flipped(w))
        if b is not None:
            y = y + b
        y = T.reshape(y, lead + (n, heads, e))
        return T.transpose(y, list(range(rank)) + [rank + 1, rank, rank + 2])
    q, k, v = projected(wq, bq), projected(wk, bk), projected(wv, bv)
    live = np.ones((n, n), bool) if mask is None else mask
    if a["causal"]:
        live = live & causal_mask(n, n)
    s = T.matmul(q, flipped(k)) * (1 / np.sqrt(np.asarray(e, q.v.dtype)))
    h = T.matmul(admitted(s, live), v)
    h = T.transpose(h, list(range(rank)) + [rank + 1, rank, rank + 2])
    y = T.matmul(T.reshape(h, lead + (n, width)), flipped(wo))
    return y if bo is None else y + bo


@lowered("rope")
def rope(c, a, x, pos=None):
    n, d = x.v.shape[-2:]
    kind = np.longdouble
    p = np.arange(n) if pos is None else pos
    i = np.arange(d // 2).astype(kind)
    angle = p.astype(kind)[:, None] * np.power(kind(a["base"]), -2 * i / kind(max(d, 1)))
    cos, sin = np.cos(angle).astype(x.v.dtype), np.sin(angle).astype(x.v.dtype)
    if a["pairing"] == "interleaved":
        even, odd = x[..., 0::2], x[..., 1::2]
    else:
        even, odd = x[..., :d // 2], x[..., d // 2:]
    u, w = even * Var(cos) - odd * Var(sin), even * Var(sin) + odd * Var(cos)
    if a["pairing"] == "interleaved":
        shape = x.v.shape
        both = stacked(u, w)
        return T.reshape(both, shape)
    return joined(u, w)


def stacked(u, w):
    out = np.stack([u.v, w.v], -1)
    return Var(out, ((u, lambda d: np.stack([d, np.zeros_like(d)], -1), lambda g: g[..., 0]),
                     (w, lambda d: np.stack([np.zeros_like(d), d], -1), lambda g: g[..., 1])))


def joined(u, w):
    n = u.v.shape[-1]
    out = np.concatenate([u.v, w.v], -1)
    return Var(out, ((u, lambda d: np.concatenate([d, np.zeros_like(d)], -1), lambda g: g[..., :n]),
                     (w, lambda d: np.concatenate([np.zeros_like(d), d], -1), lambda g: g[..., n:])))


@lowered("sinusoidal_encoding", result=lambda c: c.a["dtype"])
def sinusoidal(c, a, pos):
    need(a["dtype"] in ("f32", "f64"), "dtype", "only f32 and f64 are offered")
    kind, width = np.longdouble, a["width"]
    j = np.arange((width + 1) // 2).astype(kind)
    angle = pos[..., None].astype(kind) * np.power(kind(a["base"]), -2 * j / kind(max(width, 1)))
    y = np.zeros(pos.shape + (width,), kind)
    y[..., 0::2] = np.sin(angle)
    y[..., 1::2] = np.cos(angle[..., :width // 2])
    return Var(y)
