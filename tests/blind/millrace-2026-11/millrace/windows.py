"""Convolution and its transpose: sums over the taps of the kernel."""
import itertools

import numpy as np

from .rule import Op, per_axis, summed
from .switch import planted


class Geometry:
    """Where the taps of a window meet the operand, axis by axis."""

    def __init__(self, c, spatial, kernel):
        rank = len(spatial)
        self.spatial, self.kernel = tuple(spatial), tuple(kernel)
        self.stride = per_axis(c.a.get("stride", 1), rank)
        self.padding = per_axis(c.a.get("padding", 0), rank)
        self.dilation = per_axis(c.a.get("dilation", 1), rank)
        self.out = tuple((s + 2 * p - d * (w - 1) - 1) // t + 1 for s, p, d, w, t in
                         zip(spatial, self.padding, self.dilation, kernel, self.stride))

    def taps(self):
        return itertools.product(*[range(w) for w in self.kernel])

    def padded(self, x, value=0):
        widths = [(0, 0), (0, 0)] + [(p, p) for p in self.padding]
        return np.pad(x, widths, constant_values=value)

    def place(self, tap):
        """The slice of the padded operand that one tap meets."""
        return (Ellipsis,) + tuple(slice(u * d, u * d + t * (n - 1) + 1, t) if n else slice(0, 0) for u, d, t, n in
                                   zip(tap, self.dilation, self.stride, self.out))

    def cropped(self, full):
        return full[(slice(None), slice(None)) + tuple(slice(p, p + s) for p, s in zip(self.padding, self.spatial))]

    def empty(self, lead, dtype):
        return np.zeros(tuple(lead) + tuple(s + 2 * p for s, p in zip(self.spatial, self.padding)), dtype)


def grouped(x, groups):
    """[b, c, ..s] as [b, groups, c/groups, positions]."""
    n = int(np.prod(x.shape[2:], dtype=np.int64))
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, n)


def weights(c, k, tap):
    """[o, e] of one tap as [groups, o/groups, e]."""
    g = c.a["groups"]
    w = k[(slice(None), slice(None)) + tap]
    return w.reshape(g, w.shape[0] // g, w.shape[1])


def conv_of(c, geo, x, k):
    """Without the bias."""
    g, o = c.a["groups"], k.shape[0]
    xp = geo.padded(x)
    out = np.zeros((x.shape[0], g, o // g, int(np.prod(geo.out, dtype=np.int64))), x.dtype)
    for tap in geo.taps():
        out = out + np.matmul(weights(c, k, tap), grouped(xp[geo.place(tap)], g))
    return out.reshape((x.shape[0], o) + geo.out)


def conv_back_x(c, geo, gy, k):
    """The transpose in the operand."""
    g = c.a["groups"]
    full = geo.empty((gy.shape[0], k.shape[1] * g), gy.dtype)
    flat = grouped(gy, g)
    for tap in geo.taps():
        part = np.matmul(np.swapaxes(weights(c, k, tap), -1, -2), flat)
        full[geo.place(tap)] += part.reshape((gy.shape[0], k.shape[1] * g) + geo.out)
    return geo.cropped(full)


def conv_back_k(c, geo, gy, x, k):
    """The transpose in the kernel."""
    g = c.a["groups"]
    xp, flat, out = geo.padded(x), grouped(gy, g), np.zeros(k.shape, gy.dtype)
    for tap in geo.taps():
        part = np.matmul(flat, np.swapaxes(grouped(xp[geo.place(tap)], g), -1, -2)).sum(0)
        out[(slice(None), slice(None)) + tap] = part.reshape(k.shape[0], k.shape[1])
    return out


def beside(b, rank):
    return b.reshape((1, -1) + (1,) * rank)


def conv_geometry(c):
    x, k = c.x[:2]
    return Geometry(c, x.shape[2:], k.shape[2:])


def with_bias(c, y, index=2):
    if len(c.x) > index and c.x[index] is not None:
        return y + beside(c.x[index], y.ndim - 2)
    return y


def conv_forward(c):
    x, k = c.x[:2]
    return [with_bias(c, conv_of(c, conv_geometry(c), x, k))]


def tangent_of_bias(c, ts, y):
    return np.broadcast_to(beside(ts[2], y.ndim - 2), y.shape) if len(ts) > 2 and ts[2] is not None else None


def conv_jvp(c, ts):
    geo, (x, k) = conv_geometry(c), c.x[:2]
    return [summed([None if ts[0] is None else conv_of(c, geo, ts[0], k),
                    None if ts[1] is None else conv_of(c, geo, x, ts[1]), tangent_of_bias(c, ts, c.y[0])])]


def conv_vjp(c, gs):
    geo, (x, k), g = conv_geometry(c), c.x[:2], gs[0]
    if planted("conv_vjp_kernel_without_dilation") and any(d > 1 for d in geo.dilation):
        flat = Geometry(c, x.shape[2:], k.shape[2:])
        flat.dilation = [1] * len(geo.dilation)
        back_k = conv_back_k(c, flat, g, x, k)
    else:
        back_k = conv_back_k(c, geo, g, x, k) if c.wanted[1] else None
    out = [conv_back_x(c, geo, g, k) if c.wanted[0] else None, back_k]
    return out + [g.sum(axis=(0,) + tuple(range(2, g.ndim)))] * (len(c.x) - 2)


# The transpose: the same sums, the other way round. Its geometry is that of the convolution that it transposes.
def transpose_geometry(c):
    x, k = c.x[:2]
    rank = x.ndim - 2
    stride, padding, more, dilation = (per_axis(c.a[n], rank) for n in ("stride", "padding", "output_padding", "dilation"))
    spatial = [(s - 1) * t - 2 * p + d * (w - 1) + m + 1 for s, t, p, d, w, m in
               zip(x.shape[2:], stride, padding, dilation, k.shape[2:], more)]
    geo = Geometry(c, spatial, k.shape[2:])
    geo.padding = padding
    geo.out = tuple(x.shape[2:])
    return geo


def transposed_of(c, geo, x, k):
    if planted("conv_transpose_groups_interleaved") and c.a["groups"] > 1 and k.shape[1] > 1:
        y = conv_back_x(c, geo, x, k)
        g = c.a["groups"]
        return y.reshape((y.shape[0], g, k.shape[1]) + y.shape[2:]).swapaxes(1, 2).reshape(y.shape)
    return conv_back_x(c, geo, x, k)


def transpose_forward(c):
    x, k = c.x[:2]
    return [with_bias(c, transposed_of(c, transpose_geometry(c), x, k))]


def transpose_jvp(c, ts):
    geo, (x, k) = transpose_geometry(c), c.x[:2]
    return [summed([None if ts[0] is None else transposed_of(c, geo, ts[0], k),
                    None if ts[1] is None else transposed_of(c, geo, x, ts[1]), tangent_of_bias(c, ts, c.y[0])])]


def transpose_vjp(c, gs):
    geo, (x, k), g = transpose_geometry(c), c.x[:2], gs[0]
    return [conv_of(c, geo, g, k), conv_back_k(c, geo, x, g, k)] + [
        g.sum(axis=(0,) + tuple(range(2, g.ndim)))] * (len(c.x) - 2)


for _rank in ("", "1d", "2d", "3d"):
    Op("conv" + _rank, "call", conv_forward, conv_jvp, conv_vjp)
    Op("conv_transpose" + _rank, "call", transpose_forward, transpose_jvp, transpose_vjp)
