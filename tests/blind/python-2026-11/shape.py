"""Operations that only move elements, and those that index with tensors."""
import numpy as np

from core import ARRAYS, Rule, linear_map, listed, need, number, planted, real


def inverse(permutation):
    return permutation if planted("transpose_vjp_permutation") else list(np.argsort(permutation))


def joined(axis_of):
    """A rule of a pack of tensors that are put side by side: pieces(a, x, y) is an index of y per member."""
    together, pieces = axis_of

    def jvp(a, x, y, dx):
        return together(a, *(np.zeros(v.shape) if d is None else d for v, d in zip(x, dx)))
    return Rule(together, jvp, lambda a, x, y, g: [g[piece] for piece in pieces(a, x)])


def concat_pieces(a, x):
    start, found = 0, []
    for t, v in enumerate(x):
        n = v.shape[a["axis"]]
        if planted("concat_vjp_equal_pieces"):
            start = min(t * n, sum(w.shape[a["axis"]] for w in x) - n)
        found.append((slice(None),) * a["axis"] + (slice(start, start + n),))
        start += n
    return found


def stack_pieces(a, x):
    return [(slice(None),) * a["axis"] + (t,) for t in range(len(x))]


def interleave(a, x, y):
    z = np.stack([x, y], a["axis"] + 1)
    return z.reshape([2 * n if i == a["axis"] else n for i, n in enumerate(x.shape)])


def interleave_pieces(a, x):
    at = (slice(None),) * a["axis"]
    found = [at + (slice(0, None, 2),), at + (slice(1, None, 2),)]
    return found[::-1] if planted("interleave_vjp_swapped") else found


def pad_bounds(a, x):
    low, high = listed(a["low"], x.ndim), listed(a["high"], x.ndim)
    put = tuple(slice(max(l, 0), max(l, 0) + max(0, n + min(l, 0) + min(h, 0))) for l, h, n in zip(low, high, x.shape))
    take = tuple(slice(max(-l, 0), max(-l, 0) + p.stop - p.start) for l, p in zip(low, put))
    return [l + n + h for l, h, n in zip(low, high, x.shape)], put, take


def pad(a, x, value=None):
    shape, put, take = pad_bounds(a, x)
    y = np.full(shape, number(a["value"]) if value is None else value, x.dtype)
    if x[take].size:
        y[put] = x[take]
    return y


def pad_jvp(a, x, y, dx):
    return pad(a, dx[0], None if planted("pad_value_moves") else 0)


def pad_vjp(a, x, y, g):
    _, put, take = pad_bounds(a, x[0])
    if planted("pad_crop_vjp"):
        take = tuple(slice(0, t.stop - t.start) for t in take)
    c = np.zeros(x[0].shape)
    if c[take].size:
        c[take] = g[put]
    return [c]


def slice_places(a, x):
    start, stop, step = (listed(a[k], x.ndim) for k in ("start", "stop", "step"))
    return np.ix_(*(np.arange(i, j, s) for i, j, s in zip(start, stop, step))) if x.ndim else ()


def slice_vjp(a, x, y, g):
    c = np.zeros(x[0].shape)
    if planted("slice_vjp_negative_step"):
        g = np.flip(g, [i for i, s in enumerate(listed(a["step"], g.ndim)) if s < 0])
    c[slice_places(a, x[0])] = g
    return [c]


def select_vjp(a, x, y, g):
    c = np.zeros(x[0].shape)
    index = a["index"]
    if planted("select_vjp_negative") and index < 0:
        index = index % x[0].shape[a["axis"]] - 1
    c[(slice(None),) * a["axis"] + (index,)] = g
    return [c]


def flip(a, x):
    return np.flip(x, a["axes"][:1] if planted("flip_first_axis") else a["axes"]) if a["axes"] else x


def roll(a, x, sign=1):
    shifts = [sign * s for s in listed(a["shift"], len(a["axes"]))]
    if planted("roll_beyond"):
        shifts = [max(-x.shape[i], min(x.shape[i], s)) for s, i in zip(shifts, a["axes"])]
    return np.roll(x, shifts, a["axes"]) if shifts else x


def triangle(a, x, lower):
    k, (m, n) = a["diagonal"], x.shape[-2:]
    if planted("triangle_bottom_right"):
        k += n - m
    keep = np.tri(m, n, k, bool) if lower else ~np.tri(m, n, k - 1, bool)
    return np.where(keep, x, np.zeros_like(x))


def repeated_vjp(a, x, y, g):
    lead = g.ndim - x[0].ndim
    g = np.sum(g, tuple(range(lead)))
    return [np.sum(g, tuple(i for i, n in enumerate(x[0].shape) if n == 1 and g.shape[i] != 1), keepdims=True)]


def reshape(a, x):
    return np.reshape(x, a["shape"]) if x.size or -1 not in a["shape"] else x.reshape(completed(a["shape"]))


def completed(shape):
    return [0 if n == -1 else n for n in shape]


def flatten(a, x):
    rank = max(1, x.ndim)
    start, end = a["start"] % rank, a["end"] % rank
    size = int(np.prod(x.shape[start:end + 1], dtype=np.int64))
    return x.reshape(x.shape[:start] + (size,) + x.shape[end + 1:])


def back(a, x, y, g):
    return [np.reshape(g, x[0].shape)]


def in_range(t, n):
    return (t >= 0) & (t < n)


def gather(a, x, t):
    n = x.shape[a["axis"]]
    if planted("gather_negative"):
        t = np.where(t < 0, t + n, t)
    ok = in_range(t, n)
    rows = np.moveaxis(x, a["axis"], 0)
    y = rows[np.where(ok, t, 0)] if n else np.zeros(t.shape + rows.shape[1:], x.dtype)
    y = np.where(ok.reshape(ok.shape + (1,) * (rows.ndim - 1)), y, np.zeros_like(y))
    return np.moveaxis(y, tuple(range(t.ndim)), tuple(range(a["axis"], a["axis"] + t.ndim)))


def add_rows(a, c, t, s):
    """c with the slices of s added at t, along the axis; what is out of range is dropped."""
    rows = np.moveaxis(c, a["axis"], 0)
    values = np.moveaxis(s, tuple(range(a["axis"], a["axis"] + t.ndim)), tuple(range(t.ndim)))
    ok = in_range(t, len(rows))
    if planted("scatter_duplicates_lost"):
        rows[t[ok]] += values[ok]
    else:
        np.add.at(rows, t[ok], values[ok])
    return c


def gather_vjp(a, x, y, g):
    return [add_rows(a, np.zeros(x[0].shape), x[1], g), None]


def scatter_jvp(a, x, y, dx):
    dx0 = np.zeros(x[0].shape) if dx[0] is None else dx[0].copy()
    return dx0 if dx[2] is None else add_rows(a, dx0, x[1], dx[2])


def scatter_vjp(a, x, y, g):
    t = np.clip(x[1], 0, x[0].shape[a["axis"]] - 1) if planted("scatter_vjp_clamped") else x[1]
    return [g, None, gather(a, g, t)]


def along(a, x, t):
    n = x.shape[a["axis"]]
    if planted("take_along_axis_clamped"):
        t = np.clip(t, 0, n - 1)
    ok = in_range(t, n)
    if n == 0:
        return np.zeros(t.shape, x.dtype)
    y = np.take_along_axis(x, np.where(ok, t, 0).astype(np.int64), a["axis"])
    return np.where(ok, y, np.zeros_like(y))


def add_along(a, c, t, s):
    ok = in_range(t, c.shape[a["axis"]])
    places = list(np.indices(t.shape))
    places[a["axis"]] = t
    np.add.at(c, tuple(p[ok] for p in places), s[ok])
    return c


def scatter_along_jvp(a, x, y, dx):
    dx0 = np.zeros(x[0].shape) if dx[0] is None else dx[0].copy()
    return dx0 if dx[2] is None else add_along(a, dx0, x[1], dx[2])


def embedding(a, w, t):
    return gather({"axis": 0}, w, t)


def kept_rows(a, g, t):
    """The cotangent, or tangent, without that of the padding row."""
    return np.where((t == a["padding_idx"])[..., None], 0.0, g)


def embedding_vjp(a, x, y, g):
    g = g if planted("embedding_padding_learns") else kept_rows(a, g, x[1])
    return [add_rows({"axis": 0}, np.zeros(x[0].shape), x[1], g), None]


def one_hot(a, t):
    need(a["dtype"] in ARRAYS, "attribute", f"{a['dtype']} is not offered")
    if planted("one_hot_negative"):
        t = np.where(t < 0, t + a["classes"], t)
    k = np.arange(a["classes"]).reshape([-1] + [1] * (t.ndim - a["axis"]))
    return made(np.expand_dims(t, a["axis"]) == k, a["dtype"])


def made(x, dtype):
    x = x.astype(ARRAYS[dtype])
    return x.astype(np.float64) if real(x) else x


def arange(a):
    need(a["dtype"] in ARRAYS, "attribute", f"{a['dtype']} is not offered")
    start, stop, step = int(a["start"]), int(a["stop"]), int(a["step"])
    n = max(0, -((start - stop) // step))
    if planted("arange_negative_step") and step < 0:
        n = max(0, (start - stop) // -step)
    return made(np.array([start + step * i for i in range(n)], np.int64), a["dtype"])


RULES = {
    "reshape": linear_map(reshape, back), "flatten": linear_map(flatten, back),
    "transpose": linear_map(lambda a, x: np.transpose(x, a["permutation"]),
                            lambda a, x, y, g: [np.transpose(g, inverse(a["permutation"]))]),
    "swap_axes": linear_map(lambda a, x: np.swapaxes(x, a["axis1"], a["axis2"]),
                            lambda a, x, y, g: [np.swapaxes(g, a["axis1"], a["axis2"])]),
    "broadcast_to": linear_map(lambda a, x: np.broadcast_to(x, a["shape"]), repeated_vjp),
    "concat": joined((lambda a, *x: np.concatenate(x, a["axis"]), concat_pieces)),
    "stack": joined((lambda a, *x: np.stack(x, a["axis"]), stack_pieces)),
    "interleave": joined((interleave, interleave_pieces)),
    "pad": Rule(pad, pad_jvp, pad_vjp),
    "slice": linear_map(lambda a, x: x[slice_places(a, x)], slice_vjp),
    "select": linear_map(lambda a, x: x[(slice(None),) * a["axis"] + (a["index"],)], select_vjp),
    "flip": linear_map(flip, lambda a, x, y, g: [flip(a, g)]),
    "roll": linear_map(roll, lambda a, x, y, g: [roll(a, g, -1)]),
    "tril": linear_map(lambda a, x: triangle(a, x, True), lambda a, x, y, g: [triangle(a, g, True)]),
    "triu": linear_map(lambda a, x: triangle(a, x, False), lambda a, x, y, g: [triangle(a, g, False)]),
    "gather": linear_map(gather, gather_vjp),
    "take_along_axis": linear_map(along, lambda a, x, y, g: [add_along(a, np.zeros(x[0].shape), x[1], g), None]),
    "scatter_add": Rule(lambda a, x, t, s: add_rows(a, x.copy(), t, s), scatter_jvp, scatter_vjp),
    "scatter_add_along_axis": Rule(lambda a, x, t, s: add_along(a, x.copy(), t, s), scatter_along_jvp,
                                   lambda a, x, y, g: [g, None, along(a, g, x[1])]),
    "embedding": Rule(embedding, lambda a, x, y, dx: kept_rows(a, embedding(a, dx[0], x[1]), x[1]), embedding_vjp),
    "one_hot": Rule(one_hot), "arange": Rule(arange),
}
