"""Attention, position and recurrent cells, as PyTorch spells them."""
import numpy
import torch
import torch.nn.functional as F

from rows import Case, row


@row
def scaled_dot_product_attention(g):
    lead = g.shape(0, 2, 1, 2)
    m, n, d, e = g.extent(), g.extent(), g.extent(), g.extent()
    mask = g.truth((m, n), 0.7) if g.flag() else None
    scale = g.positive() if g.flag(0.3) else None
    causal = g.flag()
    if mask is not None and not (numpy.tril(mask) if causal else mask).any(-1).all():
        g.tags.add("dead row")

    def function(q, k, v, mask, scale):
        s = torch.matmul(q, k.transpose(-1, -2)) * (d ** -0.5 if scale is None else scale)
        live = torch.ones((m, n), dtype=torch.bool) if mask is None else mask
        live = live & torch.ones((m, n), dtype=torch.bool).tril() if causal else live
        return torch.matmul(torch.softmax(torch.where(live, s, torch.full_like(s, -torch.inf)), -1), v)
    return Case([g.real((*lead, m, d)), g.real((*lead, n, d)), g.real((*lead, n, e)), mask, scale],
                {"causal": causal}, function)


@row
def multi_head_attention(g):
    heads, b, n = g.pick(1, 2, 3), g.extent(1, 2), g.extent()
    d = heads * g.extent(1, 2)
    biases = [g.real((d,)) for _ in range(4)] if g.flag() else [None] * 4
    causal = g.flag()
    mask = g.truth((n, n), 0.7) | numpy.eye(n, dtype=bool) if g.flag() else None

    def function(x, wq, wk, wv, wo, bq, bk, bv, bo, mask):
        dead = torch.zeros((n, n), dtype=torch.bool) if mask is None else ~mask
        dead = dead | torch.ones((n, n), dtype=torch.bool).triu(1) if causal else dead
        x = x.transpose(0, 1)
        joined = None if bq is None else torch.cat((bq, bk, bv))
        y, _ = F.multi_head_attention_forward(
            x, x, x, d, heads, None, joined, None, None, False, 0.0, wo, bo, attn_mask=dead, need_weights=False,
            use_separate_proj_weight=True, q_proj_weight=wq, k_proj_weight=wk, v_proj_weight=wv)
        return y.transpose(0, 1)
    return Case([g.real((b, n, d)), *(g.real((d, d)) for _ in range(4)), *biases, mask],
                {"heads": heads, "causal": causal}, function)


def angles(positions, width, base):
    pairs = torch.arange((width + 1) // 2, dtype=torch.float64)
    return positions.to(torch.float64)[..., None] * base ** (-2 * pairs / width)


@row
def rope(g):
    n, d = g.extent(), 2 * g.extent(1, 3)
    t = g.integers(0, 20, (n,)) if g.flag() else None
    base, pairing = g.pick(10000.0, 100.0), g.pick("interleaved", "half")

    def function(x, t):
        a = angles(torch.arange(n) if t is None else t, d, base)
        turn = torch.polar(torch.ones_like(a), a).to(torch.complex64 if x.dtype == torch.float32 else torch.complex128)
        x = x.contiguous()
        pairs = x.unflatten(-1, (d // 2, 2)) if pairing == "interleaved" else x.unflatten(-1, (2, d // 2)).mT
        turned = torch.complex(pairs[..., 0], pairs[..., 1]) * turn
        turned = torch.stack((turned.real, turned.imag), -1)
        return (turned if pairing == "interleaved" else turned.mT).flatten(-2)
    return Case([g.real((*g.shape(0, 2, 1, 2), n, d)), t], {"base": base, "pairing": pairing}, function)


@row
def sinusoidal_encoding(g):
    width, base = g.extent(1, 6), g.pick(10000.0, 100.0)

    def function(t):
        a = angles(t, width, base)
        return torch.stack((torch.sin(a), torch.cos(a)), -1).flatten(-2)[..., :width].to(g.type())
    return Case([g.integers(0, 50, g.shape(0, 2))], {"width": width, "base": base, "dtype": g.type_name()}, function)


def weights(g, gates):
    b, a, n = g.extent(1, 3), g.extent(), g.extent()
    # Small enough that no gate is shut altogether: there PyTorch's derivative (1 - y)*y has no digits left.
    biases = [g.real((gates * n,), 0.15), g.real((gates * n,), 0.15)] if g.flag(0.7) else [None, None]
    return b, n, g.real((b, a), 0.15), [g.real((gates * n, a), 0.15), g.real((gates * n, n), 0.15), *biases]


@row
def rnn_cell(g):
    b, n, x, w = weights(g, 1)
    form = g.pick("tanh", "relu")
    function = {"tanh": torch.rnn_tanh_cell, "relu": torch.rnn_relu_cell}[form]
    return Case([x, g.real((b, n), 0.15), *w], {"nonlinearity": form}, function)


@row
def gru_cell(g):
    b, n, x, w = weights(g, 3)
    return Case([x, g.real((b, n), 0.15), *w], {}, torch.gru_cell)


@row
def lstm_cell(g):
    b, n, x, w = weights(g, 4)
    return Case([x, g.real((b, n), 0.15), g.real((b, n), 0.15), *w], {},
                lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w))
