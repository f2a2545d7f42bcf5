"""Attention, what tells positions apart."""
import string

import numpy as np

from quarry import build as a
from quarry.build import contract, moved, shaped, to
from quarry.ir import constant
from quarry.lowering.axes import require
from quarry.lowering.indexing import affine
from quarry.lowering.normalisation import masked_soft_max
from quarry.lowering.shape import stacked
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def attended(q, k, v, mask, scale, causal):
    """Weighted means of the rows of v; all operands have the same leading axes, the mask joins them."""
    m, n = q.shape[-2], k.shape[-2]
    lead = string.ascii_uppercase[:q.rank - 2]
    scores = contract(f"{lead}rj,{lead}tj->{lead}rt", q, k) * scale
    live = constant(np.ones((m, n), bool))
    if causal:
        live = constant(np.tri(m, n, 0, dtype=bool))
    if mask is not None:
        live = mask if defect("mask_replaces_causality") else a.both(mask, live)
    shape = a.join(scores.shape, live.shape)
    weights = masked_soft_max(a.broadcast(scores, shape), a.broadcast(live, shape), len(shape) - 1)
    v = a.broadcast(v, shape[:-2] + v.shape[-2:])
    lead = string.ascii_uppercase[:len(shape) - 2]
    return contract(f"{lead}rt,{lead}tj->{lead}rj", weights, v)


@operation(causal=False)
def scaled_dot_product_attention(at, q, k, v, mask=None, scale=None):
    if scale is not None and defect("attention_scale_constant"):
        scale = a.detach(scale)
    if scale is None:
        scale = 1 / np.sqrt(np.longdouble(q.shape[-1]))
    if k.shape[-2] == 0:
        lead = q.shape[:-2] if mask is None else a.join(q.shape[:-2], mask.shape[:-2])
        return constant(np.zeros(lead + (q.shape[-2], v.shape[-1]), q.dtype))
    return attended(q, k, v, mask, scale, at.causal)


@operation(heads=OPTIONAL, causal=False)
def multi_head_attention(at, x, wq, wk, wv, wo, bq=None, bk=None, bv=None, bo=None, mask=None):
    width, heads = wq.shape[0], at.heads
    require(heads > 0 and width % heads == 0, "a % heads == 0")
    split = x.shape[:-1] + (heads, width // heads)

    def projected(w, b):
        if defect("heads_interleaved"):
            rows = shaped(affine(x, w, b), x.shape[:-1] + (width // heads, heads))
            return moved(rows, [rows.rank - 1], [rows.rank - 3])
        rows = shaped(affine(x, w, b), split)
        return moved(rows, [rows.rank - 2], [rows.rank - 3])

    scale = 1 / np.sqrt(np.longdouble(width // heads))
    h = attended(projected(wq, bq), projected(wk, bk), projected(wv, bv), mask, scale, at.causal)
    h = shaped(moved(h, [h.rank - 3], [h.rank - 2]), x.shape[:-1] + (width,))
    return affine(h, wo, bo)


def angles(positions, count, width, base, dtype):
    """Positions times falling frequencies, as [..., count]."""
    exponents = constant(-2 * np.arange(count, dtype=dtype) / np.dtype(dtype).type(max(1, width)))
    frequencies = a.power(a.broadcast(a.lift(base, dtype), exponents.shape), exponents)
    return shaped(positions, positions.shape + (1,)) * frequencies


@operation(base=10000.0, pairing="interleaved")
def rope(at, x, pos=None):
    n, d = x.shape[-2:]
    require(d % 2 == 0, "d % 2 == 0")
    if a.size_of(x, range(x.rank)) == 0:
        return x
    positions = constant(np.arange(n, dtype=x.dtype)) if pos is None or defect("rope_positions_ignored") else to(
        pos, x.dtype)
    angle = angles(positions, d // 2, d, at.base, x.dtype)
    cos, sin, last = a.cos(angle), a.sin(angle), x.rank - 1
    if at.pairing == "half":
        left, right = a.cut(x, last, 0, d // 2), a.cut(x, last, d // 2, d)
        return a.joined([left * cos - right * sin, left * sin + right * cos], last)
    left, right = a.cut(x, last, 0, d, 2), a.cut(x, last, 1, d + 1, 2)
    pairs = stacked([left * cos - right * sin, left * sin + right * cos], last + 1)
    return shaped(pairs, x.shape)


@operation(typed=True, width=OPTIONAL, base=10000.0, dtype="f32")
def sinusoidal_encoding(at, pos):
    from quarry.session import dtype_of
    dtype, width = dtype_of(at.dtype), at.width
    require(width >= 0, "width >= 0")
    if width == 0 or a.size_of(pos, range(pos.rank)) == 0:
        return constant(np.zeros(pos.shape + (width,), dtype))
    # All in the widest type: a large position leaves few digits of the angle.
    if defect("encoding_positions_in_f32"):
        pos = to(pos, np.float32)
    angle = angles(to(pos, np.longdouble), (width + 1) // 2,
                   width, at.base, np.longdouble)
    pairs = stacked([a.sin(angle), a.cos(angle)], angle.rank)
    pairs = shaped(pairs, pos.shape + (2 * ((width + 1) // 2),))
    return to(a.cut(pairs, pairs.rank - 1, 0, width), dtype)
