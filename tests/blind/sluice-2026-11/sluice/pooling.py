"""Pooling by the same taps as convolution, and the spatial operations beside it."""
import math

import numpy as np

from .convolution import cropped, names, padded, settings, tap
from .elementwise import exp, log
from .registry import register
from .switch import on
from .tape import node


class Windows:
    """The elements of all windows along a last axis, and whether each lies inside of the operand."""

    def __init__(self, shape, kernel, stride, padding, dilation=None):
        self.s, self.kernel, self.stride, self.padding = shape[2:], kernel, stride, padding
        self.dilation = dilation or [1] * len(kernel)
        self.out = [(n + 2 * p - d * (m - 1) - 1) // t + 1
                    for n, p, d, m, t in zip(self.s, padding, self.dilation, kernel, stride)]
        self.inside = self.gather(np.ones((1, 1) + tuple(self.s), bool), False)

    def _taps(self):
        return [tap(u, self.stride, self.dilation, self.out) for u in np.ndindex(*self.kernel)]

    def gather(self, a, fill=0):
        whole = padded(np.asarray(a), self.padding, fill)
        return np.stack([whole[(slice(None), slice(None)) + at] for at in self._taps()], -1)

    def scatter(self, g, lead):
        y = np.zeros(tuple(lead) + tuple(n + 2 * p for n, p in zip(self.s, self.padding)), g.dtype)
        for i, at in enumerate(self._taps()):
            y[(slice(None), slice(None)) + at] += g[..., i]
        return cropped(y, self.padding, self.s)


def windows_of(x, w):
    return node(w.gather(x.a), (x, lambda g: w.scatter(np.asarray(g), x.shape[:2]), w.gather))


@register(*names("max_pool"))
def max_pool(c, x):
    w = Windows(x.shape, *settings(c, x.ndim - 2, "kernel", "stride", "padding", "dilation"))
    all_ = w.gather(x.a, 0 if on("max_pool_pads_zero") else -np.inf)
    at = np.argmax(all_, -1)[..., None]
    # A window of -inf alone has its first element inside, not a padded place.
    stuck = ~np.take_along_axis(np.broadcast_to(w.inside, all_.shape), at, -1)
    at = np.where(stuck, np.argmax(w.inside, -1)[..., None], at)
    y = np.max(all_, -1)

    def pull(g):
        spread = np.zeros(all_.shape, x.a.dtype)
        np.put_along_axis(spread, at, np.asarray(g)[..., None], -1)
        return w.scatter(spread, x.shape[:2])
    return node(y, (x, pull, lambda d: np.take_along_axis(w.gather(d), at, -1)[..., 0]))


@register(*names("avg_pool"))
def avg_pool(c, x):
    w = Windows(x.shape, *settings(c, x.ndim - 2, "kernel", "stride", "padding"))
    cells = math.prod(w.kernel) if c.count_include_pad or on("avg_pool_counts_padding") else w.inside.sum(-1)
    return node(w.gather(x.a).sum(-1) / cells,
                (x, lambda g: w.scatter(np.broadcast_to((np.asarray(g) / cells)[..., None],
                                                        np.shape(g) + (math.prod(w.kernel),)), x.shape[:2]),
                 lambda d: w.gather(d).sum(-1) / cells))


@register(*names("smooth_max_pool"))
def smooth_max_pool(c, x):
    w = Windows(x.shape, *settings(c, x.ndim - 2, "kernel", "stride", "padding"))
    top = np.max(w.gather(x.a, -np.inf), -1, keepdims=True)
    shift = np.where(np.isinf(top), 0, top)
    terms = windows_of(x, w)
    inside = np.broadcast_to(w.inside, terms.shape)
    z = (terms - shift) / c.temperature
    z = node(np.where(inside, z.a, -np.inf), (z, lambda g: np.where(inside, g, 0), lambda d: np.where(inside, d, 0)))
    e = exp(z)
    total = node(e.a.sum(-1), (e, lambda g: np.broadcast_to(np.asarray(g)[..., None], e.shape), lambda d: d.sum(-1)))
    return log(total) * c.temperature + shift[..., 0]


def _ends(n, m):
    """Where each of m windows that cover n places begins and ends."""
    ends = []
    for i in range(m):
        low, high = i * n // m, ((i + 1) * n + m - 1) // m
        ends.append((low, high))
    return ends


def window_sums(a, axis, ends):
    a = np.moveaxis(a, axis, 0)
    return np.moveaxis(np.stack([a[low:high].sum(0) for low, high in ends]), 0, axis)


def window_spread(g, axis, ends, n):
    g = np.moveaxis(g, axis, 0)
    y = np.zeros((n,) + g.shape[1:], g.dtype)
    for row, (low, high) in zip(g, ends):
        y[low:high] += row
    return np.moveaxis(y, 0, axis)


@register(*names("adaptive_avg_pool"))
def adaptive_avg_pool(c, x):
    output, = settings(c, x.ndim - 2, "output")
    windows = [_ends(n, m) for n, m in zip(x.shape[2:], output)]
    cells = np.ones((), x.a.dtype)
    for i, ends in enumerate(windows):
        width = np.array([high - low for low, high in ends], x.a.dtype)
        cells = cells * width.reshape((-1,) + (1,) * (len(windows) - 1 - i))

    def sums(a):
        for i, ends in enumerate(windows):
            a = window_sums(a, 2 + i, ends)
        return a

    def spread(g):
        for i, ends in enumerate(windows):
            g = window_spread(g, 2 + i, ends, x.shape[2 + i])
        return g
    return node(sums(x.a) / cells, (x, lambda g: spread(np.asarray(g) / cells), lambda d: sums(d) / cells))


@register(*names("global_avg_pool"))
def global_avg_pool(c, x):
    axes = tuple(range(2, x.ndim))
    n = math.prod(x.shape[2:])
    kept = x.shape[:2] + (1,) * len(axes)
    return node(x.a.sum(axes, keepdims=c.keepdims) / x.a.dtype.type(n),
                (x, lambda g: np.broadcast_to(np.reshape(g, kept) / x.a.dtype.type(n), x.shape),
                 lambda d: d.sum(axes, keepdims=c.keepdims) / x.a.dtype.type(n)))


@register(*names("upsample_nearest"))
def upsample_nearest(c, x):
    scale, = settings(c, x.ndim - 2, "scale")

    def up(a):
        for i, k in enumerate(scale):
            a = np.repeat(a, k, 2 + i)
        return a

    def down(g):
        shape = list(g.shape[:2])
        for n, k in zip(x.shape[2:], scale):
            shape += [n, k]
        g = np.reshape(g, shape)
        axes = tuple(range(3, 3 + 2 * len(scale), 2))
        return g.mean(axes) if on("upsample_slope_averaged") else g.sum(axes)
    return node(up(x.a), (x, lambda g: down(np.asarray(g)), up))
