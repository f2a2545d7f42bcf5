"""Convolutions by taps: each place of the kernel adds one strided slice of the padded operand."""
import numpy as np

from .movement import per_axis
from .registry import register
from .switch import on
from .tape import node

FAMILY = ("", "1d", "2d", "3d")


def names(base):
    return [base + rank for rank in FAMILY]


def settings(c, rank, *keys):
    return [per_axis(c[k], rank) for k in keys]


def tap(u, stride, dilation, out):
    """The slice of the padded operand that place u of a window reads."""
    return tuple(slice(i * d, i * d + s * (n - 1) + 1, s) for i, d, s, n in zip(u, dilation, stride, out))


def padded(a, padding, fill=0):
    return np.pad(a, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=fill)


def cropped(a, padding, shape):
    return a[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(padding, shape))]


class Correlation:
    """conv as a bilinear map of x and k, with its two transposes."""

    def __init__(self, x, k, stride, padding, dilation, groups):
        self.x, self.k, self.groups = x, k, groups
        self.s, self.w = x[2:], k[2:]
        self.padding, self.dilation, self.stride = padding, dilation, stride
        self.out = [(n + 2 * p - d * (m - 1) - 1) // t + 1
                    for n, p, d, m, t in zip(self.s, padding, dilation, self.w, stride)]

    def _split(self, a):
        """Channels as groups and channels within."""
        if on("conv_groups_interleaved"):
            return np.swapaxes(a.reshape(a.shape[:1] + (-1, self.groups) + a.shape[2:]), 1, 2)
        return a.reshape(a.shape[:1] + (self.groups, a.shape[1] // self.groups) + a.shape[2:])

    def _kernels(self, k):
        return k.reshape((self.groups, k.shape[0] // self.groups) + k.shape[1:])

    def _taps(self):
        for u in np.ndindex(*self.w):
            yield u, tap(u, self.stride, self.dilation, self.out)

    def apply(self, x, k):
        dtype = np.result_type(x.dtype, k.dtype)
        xp, kg = self._split(padded(x, self.padding)), self._kernels(k)
        y = np.zeros((x.shape[0], self.groups, kg.shape[1]) + tuple(self.out), dtype)
        for u, at in self._taps():
            part = xp[(slice(None),) * 3 + at]
            y += np.einsum("ngd...,gfd->ngf...", part, kg[(slice(None),) * 3 + u])
        return y.reshape((x.shape[0], k.shape[0]) + tuple(self.out))

    def back_x(self, g, k):
        gg = g.reshape((g.shape[0], self.groups, k.shape[0] // self.groups) + g.shape[2:])
        kg = self._kernels(k)
        whole = [n + 2 * p for n, p in zip(self.s, self.padding)]
        y = np.zeros((g.shape[0], self.groups, self.k[1]) + tuple(whole), g.dtype)
        for u, at in self._taps():
            y[(slice(None),) * 3 + at] += np.einsum("ngf...,gfd->ngd...", gg, kg[(slice(None),) * 3 + u])
        return cropped(y.reshape((g.shape[0], self.x[1]) + tuple(whole)), self.padding, self.s)

    def back_k(self, g, x):
        gg = g.reshape((g.shape[0], self.groups, self.k[0] // self.groups) + g.shape[2:])
        xp = self._split(padded(x, self.padding))
        y = np.zeros((self.groups, self.k[0] // self.groups) + self.k[1:], g.dtype)
        if on("kernel_slope_undilated"):
            taps = ((u, tap(u, self.stride, [1] * len(self.w), self.out)) for u in np.ndindex(*self.w))
        else:
            taps = self._taps()
        for u, at in taps:
            y[(slice(None),) * 3 + u] = np.einsum("ngfz,ngdz->gfd", gg.reshape(gg.shape[:3] + (-1,)),
                                                  xp[(slice(None),) * 3 + at].reshape(xp.shape[:3] + (-1,)))
        return y.reshape(self.k)


def add_bias(y, bias):
    """One number per channel; it moves with its tangent, and collects all places."""
    if bias is None:
        return y
    over = (0,) + tuple(range(2, y.ndim))
    shape = (1, -1) + (1,) * (y.ndim - 2)
    return node(y.a + bias.a.reshape(shape), (y, lambda g: g, lambda d: d),
                (bias, lambda g: np.sum(g, axis=over),
                 lambda d: 0 * d.reshape(shape) if on("bias_tangent_dropped") else d.reshape(shape)))


@register(*names("conv"))
def conv(c, x, k, bias=None):
    rank = x.ndim - 2
    m = Correlation(x.shape, k.shape, *settings(c, rank, "stride", "padding", "dilation"), c.groups)
    y = node(m.apply(x.a, k.a), (x, lambda g: m.back_x(np.asarray(g), k.a), lambda d: m.apply(d, k.a)),
             (k, lambda g: m.back_k(np.asarray(g), x.a), lambda d: m.apply(x.a, d)))
    return add_bias(y, bias)


class Scattering:
    """conv_transpose: each element of x adds a scaled kernel to a canvas, of which the padding is cut."""

    def __init__(self, x, k, stride, padding, extra, dilation, groups):
        self.x, self.k, self.groups, self.stride, self.dilation = x, k, groups, stride, dilation
        self.s, self.w = x[2:], k[2:]
        self.out = [(n - 1) * t - 2 * p + d * (m - 1) + e + 1
                    for n, t, p, d, m, e in zip(self.s, stride, padding, dilation, self.w, extra)]
        self.canvas = [max((n - 1) * t + d * (m - 1) + 1, p + o)
                       for n, t, d, m, p, o in zip(self.s, stride, dilation, self.w, padding, self.out)]
        if on("output_padding_at_front"):
            self.canvas = [n + e for n, e in zip(self.canvas, extra)]
            self.first = extra
        else:
            self.first = [0] * len(extra)
        self.padding = padding

    def _at(self, u):
        if on("conv_transpose_flips_kernel"):
            u = [m - 1 - i for i, m in zip(u, self.w)]
        return tuple(slice(f + i * d, f + i * d + t * (n - 1) + 1, t)
                     for f, i, d, t, n in zip(self.first, u, self.dilation, self.stride, self.s))

    def _x(self, a):
        return a.reshape((a.shape[0], self.groups, self.x[1] // self.groups) + a.shape[2:])

    def _k(self, k):
        return k.reshape((self.groups, self.x[1] // self.groups) + k.shape[1:])

    def apply(self, x, k):
        xg, kg, e = self._x(x), self._k(k), self.k[1]
        y = np.zeros((x.shape[0], self.groups, e) + tuple(self.canvas), np.result_type(x.dtype, k.dtype))
        if all(self.s):
            for u in np.ndindex(*self.w):
                y[(slice(None),) * 3 + self._at(u)] += np.einsum("ngd...,gde->nge...", xg, kg[(slice(None),) * 3 + u])
        return cropped(y.reshape((x.shape[0], self.groups * e) + tuple(self.canvas)), self.padding, self.out)

    def _whole(self, g):
        y = np.zeros(g.shape[:2] + tuple(self.canvas), g.dtype)
        y[(slice(None), slice(None)) + tuple(slice(p, p + n) for p, n in zip(self.padding, self.out))] = g
        return y.reshape((g.shape[0], self.groups, self.k[1]) + tuple(self.canvas))

    def back_x(self, g, k):
        gg, kg = self._whole(g), self._k(k)
        y = np.zeros((g.shape[0], self.groups, self.x[1] // self.groups) + self.s, g.dtype)
        for u in np.ndindex(*self.w):
            if y.size:
                y += np.einsum("nge...,gde->ngd...", gg[(slice(None),) * 3 + self._at(u)], kg[(slice(None),) * 3 + u])
        return y.reshape(self.x)

    def back_k(self, g, x):
        gg, xg = self._whole(g), self._x(x)
        y = np.zeros((self.groups, self.x[1] // self.groups) + self.k[1:], g.dtype)
        for u in np.ndindex(*self.w):
            if xg.size:
                part = gg[(slice(None),) * 3 + self._at(u)]
                y[(slice(None),) * 3 + u] = np.einsum("ngez,ngdz->gde", part.reshape(part.shape[:3] + (-1,)),
                                                      xg.reshape(xg.shape[:3] + (-1,)))
        return y.reshape(self.k)


@register(*names("conv_transpose"))
def conv_transpose(c, x, k, bias=None):
    rank = x.ndim - 2
    m = Scattering(x.shape, k.shape, *settings(c, rank, "stride", "padding", "output_padding", "dilation"), c.groups)
    y = node(m.apply(x.a, k.a), (x, lambda g: m.back_x(np.asarray(g), k.a), lambda d: m.apply(d, k.a)),
             (k, lambda g: m.back_k(np.asarray(g), x.a), lambda d: m.apply(x.a, d)))
    return add_bias(y, bias)
