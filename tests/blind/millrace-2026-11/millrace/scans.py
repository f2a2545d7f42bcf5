"""Sums and products of the elements so far."""
import numpy as np

from .rule import Op, axis_of
from .switch import planted


def last(x, axis):
    return np.moveaxis(x, axis, -1)


def run(f, identity, x, reverse, exclusive):
    """Scans the last axis."""
    if reverse:
        x = x[..., ::-1]
    y = f.accumulate(x, axis=-1, dtype=x.dtype)
    if exclusive and x.shape[-1]:
        y = np.concatenate([np.full_like(y[..., :1], identity), y[..., :-1]], -1)
    return y[..., ::-1] if reverse else y


def flags(c):
    return c.a["reverse"], c.a["exclusive"]


def cumsum_of(c, x, turned=False):
    axis = axis_of(c, x.ndim)
    reverse, exclusive = flags(c)
    return np.moveaxis(run(np.add, 0, last(x, axis), reverse != turned, exclusive), -1, axis)


def cumsum_vjp(c, gs):
    if planted("cumsum_vjp_keeps_direction") and c.a["reverse"]:
        return [cumsum_of(c, gs[0])]
    return [cumsum_of(c, gs[0], True)]


Op("cumsum", "call", lambda c: [cumsum_of(c, c.x[0])], lambda c, ts: [cumsum_of(c, ts[0])], cumsum_vjp, saves="")


def cumprod_forward(c):
    axis = axis_of(c, c.x[0].ndim)
    return [np.moveaxis(run(np.multiply, 1, last(c.x[0], axis), *flags(c)), -1, axis)]


def forwards(c, x, axis):
    """The scanned axis last, in the order of the scan."""
    x = last(x, axis)
    return x[..., ::-1] if c.a["reverse"] else x


def restored(c, x, axis):
    return np.moveaxis(x[..., ::-1] if c.a["reverse"] else x, -1, axis)


def before(x):
    """Of each element the product of those before it."""
    y = np.ones_like(x)
    for k in range(1, x.shape[-1]):
        y[..., k] = y[..., k - 1] * x[..., k - 1]
    return y


def cumprod_jvp(c, ts):
    axis = axis_of(c, c.x[0].ndim)
    x, t = forwards(c, c.x[0], axis), forwards(c, ts[0], axis)
    p, out = before(x), np.zeros_like(x)
    late = 1 if c.a["exclusive"] else 0
    for j in range(late, x.shape[-1]):
        k = j - late
        here = p[..., k] * t[..., k]
        out[..., j] = out[..., j - 1] * x[..., k] + here if j else here
    return [restored(c, out, axis)]


def cumprod_vjp(c, gs):
    axis = axis_of(c, c.x[0].ndim)
    x, g = forwards(c, c.x[0], axis), forwards(c, gs[0], axis)
    p, out = before(x), np.zeros_like(x)
    n, late = x.shape[-1], 1 if c.a["exclusive"] else 0
    if planted("cumprod_vjp_by_division"):
        y = p if late else p * x
        tail = np.cumsum((y * g)[..., ::-1], -1)[..., ::-1]
        tail = np.concatenate([tail[..., late:], np.zeros_like(tail[..., :late])], -1)
        return [restored(c, np.where(x == 0, 0, tail / np.where(x == 0, 1, x)), axis)]
    # What the places from j on pull, seen from place j.
    pull = np.zeros_like(x[..., 0]) if n else None
    for j in reversed(range(late, n)):
        k = j - late
        pull = g[..., j] + pull * x[..., k + 1] if j + 1 < n else g[..., j] + pull
        out[..., k] = pull * p[..., k]
    return [restored(c, out, axis)]


Op("cumprod", "call", cumprod_forward, cumprod_jvp, cumprod_vjp)
