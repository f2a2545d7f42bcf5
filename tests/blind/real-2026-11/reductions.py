"""Sums, products and extrema over axes, whole or running."""
import numpy as np

from operation import Operation


def axes(a, x):
    return tuple(i % max(1, x.ndim) for i in a["axes"])


def back(a, x, y):
    """A result of a reduction over axes, in a shape that broadcasts against x."""
    return y if a["keepdims"] else np.expand_dims(y, axes(a, x))


def rows(a, x):
    """The elements that are reduced together, in their order, along one last axis."""
    over = axes(a, x)
    moved = np.moveaxis(x, over, range(x.ndim - len(over), x.ndim))
    kept, gone = moved.shape[:x.ndim - len(over)], moved.shape[x.ndim - len(over):]
    return moved.reshape(kept + (int(np.prod(gone)),))


def kept(a, x, y):
    return np.expand_dims(y, axes(a, x)) if a["keepdims"] else y


def position(f):
    return Operation(lambda a, c, x: kept(a, x, f(rows(a, x), -1).astype(np.int64)))


def product_vjp(a, c, x, y, g):
    x, y, g = x[0], back(a, x[0], y), back(a, x[0], g)
    d = np.array(y * g / x)
    for place in map(tuple, np.argwhere(x == 0)):
        others = x.copy()
        others[place] = 1
        whole = np.prod(others, axes(a, x), keepdims=True)
        d[place] = np.broadcast_to(whole * g, x.shape)[place]
    return [d]


def logsumexp(a, c, x):
    over = axes(a, x)
    top = np.max(x, over, keepdims=True, initial=-np.inf) if x.size else np.zeros(())
    top = np.where(np.isinf(top), 0, top)
    y = top + np.log(np.sum(np.exp(x - top), over, keepdims=True))
    return y if a["keepdims"] else np.squeeze(y, over)


def running(f, identity):
    def forward(a, c, x):
        return along(a, x, lambda v: shifted(a, f(v, -1, dtype=x.dtype), identity))
    return forward


def along(a, x, f):
    """f of x with the axis last, in the order in which it runs."""
    v = np.moveaxis(x, a["axis"], -1)
    y = f(v[..., ::-1] if a["reverse"] else v)
    return np.moveaxis(y[..., ::-1] if a["reverse"] else y, -1, a["axis"])


def shifted(a, y, identity):
    if not a["exclusive"] or y.shape[-1] == 0:
        return y
    return np.concatenate([np.full_like(y[..., :1], identity), y[..., :-1]], -1)


def from_behind(a, g):
    """At each place the sum of those that it takes part in."""
    total = np.cumsum(g[..., ::-1], -1)[..., ::-1]
    return total - g if a["exclusive"] else total


def running_product_vjp(a, c, x, y, g):
    def ordered(v):
        v = np.moveaxis(v, a["axis"], -1)
        return v[..., ::-1] if a["reverse"] else v
    v, w, h = ordered(x[0]), ordered(y), ordered(g)
    q = shifted(a, np.cumprod(v, -1), 1)
    late = np.zeros_like(h)
    for k in range(v.shape[-1]):
        part = h[..., k + 1:] if a["exclusive"] else h[..., k:]
        seen = q[..., k + 1:] if a["exclusive"] else q[..., k:]
        late[..., k] = np.sum(part * seen, -1)
    d = late / v
    for place in zip(*np.nonzero(v == 0)):
        row, k = v[place[:-1]].copy(), place[-1]
        row[k] = 1
        without = shifted(a, np.cumprod(row), 1)
        first = k + 1 if a["exclusive"] else k
        d[place] = np.sum(h[place[:-1]][first:] * without[first:])
    d = d[..., ::-1] if a["reverse"] else d
    return [np.moveaxis(d, -1, a["axis"])]


TABLE = {
    "sum": Operation(lambda a, c, x: np.sum(x, axes(a, x), x.dtype, keepdims=a["keepdims"])),
    "prod": Operation(lambda a, c, x: np.prod(x, axes(a, x), x.dtype, keepdims=a["keepdims"]), product_vjp),
    "max": Operation(lambda a, c, x: np.max(x, axes(a, x), keepdims=a["keepdims"])),
    "argmax": position(np.argmax),
    "argmin": position(np.argmin),
    "logsumexp": Operation(logsumexp),
    "cumsum": Operation(running(np.cumsum, 0)),
    "cumprod": Operation(running(np.cumprod, 1), running_product_vjp),
}
