"""Attention, positions and recurrent cells."""
import math

import numpy as np

from core import Rule, planted


def attention(t, a, q, k, v, mask=None, scale=None):
    m, d = q.shape[-2:]
    n = k.shape[-2]
    s = t.one("matmul", {}, q, t.one("swap_axes", {"axis1": len(k.shape) - 2, "axis2": len(k.shape) - 1}, k))
    if scale is not None:
        s = s * scale
    if scale is None or planted("attention_scale_twice"):
        s = s * (1 / math.sqrt(d) if d else 1.0)
    live = np.ones((m, n), bool)
    if a["causal"]:
        live = np.tri(m, n, n - m if planted("attention_causal_end") else 0, dtype=bool)
    if mask is not None:
        live = live & mask.array
    return t.one("matmul", {}, t.one("masked_softmax", {"axis": -1}, s, t.constant(live)), v)


def turned(a, x, pos, backwards=False):
    """Pairs of elements, turned by angles that grow with the position."""
    n, d = x.shape[-2:]
    if pos is None or (planted("rope_positions_vjp") and backwards):
        pos = np.arange(n)
    half = a["pairing"] == "half" and not (planted("rope_pairing_vjp") and backwards)
    angle = pos[:, None] * np.float64(a["base"]) ** (-2 * np.arange(d // 2) / max(d, 1))
    c, s = np.cos(angle), np.sin(angle)
    if backwards:
        s = -s
    first, second = (slice(0, d // 2), slice(d // 2, d)) if half else (slice(0, d, 2), slice(1, d, 2))
    y = np.empty(x.shape)
    y[..., first] = x[..., first] * c - x[..., second] * s
    y[..., second] = x[..., first] * s + x[..., second] * c
    return y


def affine(t, x, w, *biases):
    y = t.one("linear", {}, x, w)
    for b in biases:
        y = y if b is None else t.one("bias", {}, y, b)
    return y


def parts(t, z, count):
    """The gates, in turn."""
    n = z.shape[-1] // count
    lead = len(z.shape) - 1
    return [t.one("slice", {"start": [0] * lead + [k * n], "stop": list(z.shape[:-1]) + [(k + 1) * n], "step": 1}, z)
            for k in range(count)]


def rnn_cell(t, a, x, h, wi, wh, bi=None, bh=None):
    z = affine(t, x, wi, bi, bh) + affine(t, h, wh)
    if planted("rnn_relu_slope") and a["nonlinearity"] == "relu":
        return t.one("leaky_relu", {"slope": 0.01}, z)
    return t.one(a["nonlinearity"], {}, z)


def lstm_cell(t, a, x, h, c, wi, wh, bi=None, bh=None):
    i, f, g, o = parts(t, affine(t, x, wi, bi, bh) + affine(t, h, wh), 4)
    if planted("lstm_gates_order"):
        g, o = o, g
    gate = lambda v: t.one("sigmoid", {}, v)
    c1 = gate(f) * c + gate(i) * t.one("tanh", {}, g)
    seen = c if planted("lstm_old_cell") else c1
    return gate(o) * t.one("tanh", {}, seen), c1


def gru_cell(t, a, x, h, wi, wh, bi=None, bh=None):
    inner = bh if not planted("gru_bias_outside") else None
    s, u = parts(t, affine(t, x, wi, bi), 3), parts(t, affine(t, h, wh, inner), 3)
    if planted("gru_bias_outside") and bh is not None:
        b = parts(t, bh, 3)
        u = [u[0] + b[0], u[1] + b[1], u[2]]
        s = [s[0], s[1], s[2] + b[2]]
    r, z = t.one("sigmoid", {}, s[0] + u[0]), t.one("sigmoid", {}, s[1] + u[1])
    new = t.one("tanh", {}, s[2] + r * u[2])
    return (1 - z) * new + z * h


RULES = {
    "scaled_dot_product_attention": attention,
    "rope": Rule(lambda a, x, pos=None: turned(a, x, pos), lambda a, x, y, dx: turned(a, dx[0], x[1] if len(x) > 1 else None),
                 lambda a, x, y, g: [turned(a, g, x[1] if len(x) > 1 else None, True), None]),
    "rnn_cell": rnn_cell, "lstm_cell": lstm_cell, "gru_cell": gru_cell,
}
