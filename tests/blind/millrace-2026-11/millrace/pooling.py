"""Pooling over windows and over whole images, and upsampling."""
import itertools

import numpy as np

from .rule import Op, per_axis
from .switch import planted
from .windows import Geometry


def geometry(c):
    x = c.x[0]
    kernel = per_axis(c.a["kernel"], x.ndim - 2)
    return Geometry(c, x.shape[2:], kernel)


def windows(geo, x, value=0):
    """[..., taps] of every window."""
    xp = geo.padded(x, value)
    return np.stack([xp[geo.place(tap)] for tap in geo.taps()], -1)


def inside(geo):
    """Which taps meet the operand."""
    return windows(geo, np.ones((1, 1) + geo.spatial, bool), False)


def scattered(geo, lead, taps):
    """The transpose of `windows`."""
    full = geo.empty(lead, taps.dtype)
    for k, tap in enumerate(geo.taps()):
        full[geo.place(tap)] += taps[..., k]
    return geo.cropped(full)


def chosen(c, geo):
    """The first largest tap that lies inside, one per window."""
    w = windows(geo, c.x[0], -np.inf)
    top = np.argmax(w, -1)
    within = np.broadcast_to(inside(geo), w.shape)
    met = np.take_along_axis(within, top[..., None], -1)[..., 0]
    top = np.where(met, top, np.argmax(within, -1))
    return w, np.arange(w.shape[-1]) == top[..., None]


def max_forward(c):
    geo = geometry(c)
    return [windows(geo, c.x[0], -np.inf).max(-1)]


def max_jvp(c, ts):
    geo = geometry(c)
    _, mask = chosen(c, geo)
    return [np.where(mask, windows(geo, ts[0]), 0).sum(-1)]


def max_vjp(c, gs):
    geo = geometry(c)
    _, mask = chosen(c, geo)
    g = gs[0]
    if planted("max_pool_vjp_overlap_overwrites"):
        full = geo.empty(c.x[0].shape[:2], g.dtype)
        for k, tap in enumerate(geo.taps()):
            at = geo.place(tap)
            full[at] = np.where(mask[..., k], g, full[at])
        return [geo.cropped(full)]
    return [scattered(geo, c.x[0].shape[:2], np.where(mask, g[..., None], 0))]


def cells(c, geo, dtype):
    if c.a["count_include_pad"]:
        return np.asarray(np.prod(geo.kernel), dtype)
    return inside(geo).sum(-1).astype(dtype)


def avg_of(c, x):
    geo = geometry(c)
    return windows(geo, x).sum(-1) / cells(c, geo, x.dtype)


def avg_vjp(c, gs):
    geo = geometry(c)
    count = cells(c, geo, gs[0].dtype)
    if planted("avg_pool_vjp_whole_kernel"):
        count = np.asarray(np.prod(geo.kernel), gs[0].dtype)
    share = gs[0] / count
    return [scattered(geo, c.x[0].shape[:2], np.broadcast_to(share[..., None], share.shape + (int(np.prod(geo.kernel)),)))]


def smooth_rows(c, geo):
    t = c.a["temperature"]
    w = windows(geo, c.x[0], -np.inf)
    live = np.broadcast_to(inside(geo), w.shape)
    top = w.max(-1)
    shift = np.where(np.isinf(top), 0, top)
    e = np.where(live, np.exp((w - shift[..., None]) / t), 0)
    return w, live, shift + t * np.log(e.sum(-1))


def smooth_weights(c, geo):
    w, live, y = smooth_rows(c, geo)
    return np.where(live, np.exp((w - y[..., None]) / c.a["temperature"]), 0)


def smooth_jvp(c, ts):
    geo = geometry(c)
    return [(smooth_weights(c, geo) * windows(geo, ts[0])).sum(-1)]


def smooth_vjp(c, gs):
    geo = geometry(c)
    return [scattered(geo, c.x[0].shape[:2], smooth_weights(c, geo) * gs[0][..., None])]


def bins(n, out):
    if planted("adaptive_pool_even_bins"):
        return [(i * n // out, max(i * n // out + 1, (i + 1) * n // out)) for i in range(out)]
    return [(i * n // out, ((i + 1) * n + out - 1) // out) for i in range(out)]


def adaptive(c):
    x = c.x[0]
    out = per_axis(c.a["output"], x.ndim - 2)
    places = [bins(n, o) for n, o in zip(x.shape[2:], out)]
    for at in itertools.product(*[range(o) for o in out]):
        cut = tuple(slice(*places[k][i]) for k, i in enumerate(at))
        yield (Ellipsis,) + at, (Ellipsis,) + cut, np.prod([s.stop - s.start for s in cut])


def adaptive_of(c, x):
    y = np.zeros(x.shape[:2] + tuple(per_axis(c.a["output"], x.ndim - 2)), x.dtype)
    axes = tuple(range(2, x.ndim))
    for at, cut, n in adaptive(c):
        y[at] = x[cut].sum(axis=axes) / np.asarray(n, x.dtype)
    return y


def adaptive_vjp(c, gs):
    g = gs[0]
    full = np.zeros(c.x[0].shape, g.dtype)
    for at, cut, n in adaptive(c):
        piece = (g[at] / np.asarray(n, g.dtype)).reshape(g.shape[:2] + (1,) * (g.ndim - 2))
        full[cut] += piece
    return [full]


def global_of(c, x):
    axes = tuple(range(2, x.ndim))
    n = np.asarray(np.prod(x.shape[2:]), x.dtype)
    return x.sum(axis=axes, keepdims=c.a["keepdims"]) / n


def global_vjp(c, gs):
    shape = c.x[0].shape
    n = np.asarray(np.prod(shape[2:]), gs[0].dtype)
    return [np.broadcast_to(gs[0].reshape(shape[:2] + (1,) * (len(shape) - 2)) / n, shape)]


def upsample_of(c, x):
    for k, s in enumerate(per_axis(c.a["scale"], x.ndim - 2)):
        x = np.repeat(x, s, 2 + k)
    return x


def upsample_vjp(c, gs):
    g, shape = gs[0], c.x[0].shape
    scale = per_axis(c.a["scale"], g.ndim - 2)
    split = list(shape[:2])
    for n, s in zip(shape[2:], scale):
        split += [n, s]
    parts, axes = g.reshape(split), tuple(range(3, len(split), 2))
    return [parts.mean(axis=axes) if planted("upsample_vjp_means") else parts.sum(axis=axes)]


for _rank in ("", "1d", "2d", "3d"):
    Op("max_pool" + _rank, "call", max_forward, max_jvp, max_vjp, saves="x")
    Op("avg_pool" + _rank, "call", lambda c: [avg_of(c, c.x[0])], lambda c, ts: [avg_of(c, ts[0])], avg_vjp, saves="")
    Op("smooth_max_pool" + _rank, "call", lambda c: [smooth_rows(c, geometry(c))[2]], smooth_jvp, smooth_vjp, saves="x",
       extended=True)
    Op("adaptive_avg_pool" + _rank, "call", lambda c: [adaptive_of(c, c.x[0])],
       lambda c, ts: [adaptive_of(c, ts[0])], adaptive_vjp, saves="")
    Op("global_avg_pool" + _rank, "call", lambda c: [global_of(c, c.x[0])], lambda c, ts: [global_of(c, ts[0])],
       global_vjp, saves="")
    Op("upsample_nearest" + _rank, "call", lambda c: [upsample_of(c, c.x[0])], lambda c, ts: [upsample_of(c, ts[0])],
       upsample_vjp, saves="")
