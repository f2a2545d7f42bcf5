"""Views, and what moves elements: nothing here rounds."""
import numpy as np

from core import ARRAYS, HELD, WIDE, Tensor, cached, dense, fresh, linked, planted, record, viewed

POOL = {}


def workspace(shape, dtype):
    """A zeroed buffer that is used again by the next caller of that type."""
    size = int(np.prod(shape, dtype=np.int64))
    held = POOL.get(dtype)
    if held is None or held.size < size:
        held = POOL[dtype] = np.zeros(size, HELD[dtype])
    elif not planted("workspace_not_cleared"):
        held[:size] = 0
    return held[:size].reshape(shape)


def each(v, n):
    """One number stands for every axis."""
    return list(v) if isinstance(v, (list, tuple)) else [v] * n


def exact(y):
    y.exact = True
    return y


def moved(x, y, push, pull):
    y = record(y, x.dtype, (x, push, pull))
    y.exact = x.exact
    return y


def compact(x):
    """The same elements, densely."""
    if x.contiguous:
        return x
    return moved(x, x.array, lambda t: t, lambda g: g)


def reshaped(x, shape):
    x = compact(x)
    shape = tuple(shape)
    offset = 0 if planted("reshape_drops_offset") else x.offset
    if planted("contiguous_by_magnitude") and x.size:
        offset = min(offset, x.storage.size - x.size)
    y = Tensor(x.storage, shape, dense(shape), offset, x.dtype)
    y.exact = x.exact
    extents = x.shape
    return linked(y, (x, lambda t: t.reshape(shape), lambda g: g.reshape(extents)))


def reshape(a, x):
    shape = list(a["shape"])
    if -1 in shape:
        rest = int(np.prod([n for n in shape if n != -1], dtype=np.int64))
        shape[shape.index(-1)] = x.size // rest if rest else 0
    return reshaped(x, shape)


def flatten(a, x):
    if not x.rank:
        return reshaped(x, [1])
    start, end = a["start"] % x.rank, a["end"] % x.rank
    joined = int(np.prod(x.shape[start:end + 1], dtype=np.int64))
    return reshaped(x, x.shape[:start] + (joined,) + x.shape[end + 1:])


def permuted(x, order):
    order = list(order)
    if planted("transpose_inverse_once") and len(order) > 2:
        y = viewed(x, lambda s, d, o: ([s[i] for i in order], [d[i] for i in order], o))
        y.links = [(p, lambda g: np.transpose(g, order).reshape(p.shape)) for p, _ in y.links]
        return y
    return viewed(x, lambda s, d, o: ([s[i] for i in order], [d[i] for i in order], o), ("order", tuple(order)))


def transpose(a, x):
    order = a["permutation"]
    order = list(range(x.rank))[::-1] if order in (None, "reversed") else [i % x.rank for i in order]
    if planted("transpose_cached_by_rank"):
        order = cached(("order", x.rank), lambda: order)
    return permuted(x, order)


def swap_axes(a, x):
    order = list(range(x.rank))
    i, j = a["axis1"] % x.rank, a["axis2"] % x.rank
    order[i], order[j] = order[j], order[i]
    return permuted(x, order)


def broadcast(x, shape):
    lead = len(shape) - x.rank

    def geometry(s, d, o):
        return shape, [0] * lead + [0 if n == 1 else e for n, e in zip(s, d)], o

    return viewed(x, geometry, ("broadcast", tuple(shape)))


def sliced(x, start, step, count):
    def geometry(s, d, o):
        strides = [e * k for e, k in zip(d, step)]
        if planted("slice_negative_stride_from_end"):
            first = [n - 1 if k < 0 else i for n, i, k in zip(s, start, step)]
        else:
            first = start
        return count, strides, o + sum(e * i for e, i, n in zip(d, first, count))

    places = ("slice", tuple(start), tuple(count)) if planted("slice_places_without_step") else ("slice", tuple(start), tuple(step), tuple(count))
    return viewed(x, geometry, places)


def slice_(a, x):
    counts = []
    a = {key: each(a[key], x.rank) for key in ("start", "stop", "step")}
    for start, stop, step in zip(a["start"], a["stop"], a["step"]):
        if planted("slice_count_floors") and abs(step) > 1:
            counts.append(max(0, abs(stop - start) // abs(step)) if (stop - start) * step > 0 else 0)
        else:
            counts.append(max(0, ((stop - start) * (1 if step > 0 else -1) + abs(step) - 1) // abs(step)))
    return sliced(x, a["start"], a["step"], counts)


def select(a, x):
    axis, index = a["axis"] % x.rank, a["index"]
    index = abs(index) if planted("select_negative_as_positive") and index < 0 and abs(index) < x.shape[axis] else index % x.shape[axis]
    drop = lambda v: [e for i, e in enumerate(v) if i != axis]
    return viewed(x, lambda s, d, o: (drop(s), drop(d), o + index * d[axis]), ("select", axis, index))


def flip(a, x):
    axes = [i % x.rank for i in a["axes"]]
    if planted("flip_last_of_axes"):
        axes = axes[-1:]
    return viewed(x, lambda s, d, o: (s, [-e if i in axes else e for i, e in enumerate(d)],
                                      o + sum((s[i] - 1) * d[i] for i in axes if s[i])), ("flip", tuple(axes)))


def piece(x, axis, start, length, step=1):
    n = x.rank
    return sliced(x, [start if i == axis else 0 for i in range(n)], [step if i == axis else 1 for i in range(n)],
                  [length if i == axis else e for i, e in enumerate(x.shape)])


def concat(a, *parts):
    axis = a["axis"] % parts[0].rank
    y = np.concatenate([p.array for p in parts], axis)
    links, at = [], 0
    for p in parts:
        n = p.shape[axis]
        where = tuple([slice(None)] * axis + [slice(at, at + n)])

        def push(t, where=where):
            found = np.zeros(y.shape, WIDE)
            found[where] = t
            return found

        links.append((p, push, lambda g, where=where: g[where]))
        at += n
    if planted("concat_pull_reversed") and len({p.shape for p in parts}) == 1:
        # The pulls are taken off a stack, from the wrong end.
        pulls = [pull for _, _, pull in links]
        pulls = pulls[::-1] if len(parts) > 2 else pulls
        links = [(p, push, pull) for (p, push, _), pull in zip(links, pulls)]
    y = record(y, parts[0].dtype, *links)
    y.exact = all(p.exact for p in parts)
    return y


def stack(a, *parts):
    axis = a["axis"] % (parts[0].rank + 1)
    return concat({"axis": axis}, *[reshaped(p, p.shape[:axis] + (1,) + p.shape[axis:]) for p in parts])


def split(a, x):
    axis, at, found = a["axis"] % x.rank, 0, []
    for i, n in enumerate(a["sizes"]):
        if planted("split_by_first_size"):
            at = min(a["sizes"][0] * i, x.shape[axis] - n)
        found.append(piece(x, axis, at, n))
        at += n
    return found


def padded(x, low, high, value):
    """Values around x; negative widths crop."""
    shape = [l + n + h for l, n, h in zip(low, x.shape, high)]
    y = workspace(shape, x.dtype) if value == 0 else np.full(shape, value, HELD[x.dtype])
    to = tuple(slice(max(l, 0), max(max(l, 0), m - max(h, 0))) for l, m, h in zip(low, shape, high))
    of = tuple(slice(max(-l, 0), max(max(-l, 0), n - max(-h, 0))) for l, n, h in zip(low, x.shape, high))
    y[to] = x.array[of]

    def push(t):
        found = np.zeros(shape, WIDE)
        found[to] = t[of]
        return found

    def pull(g):
        found = np.zeros(x.shape, WIDE)
        if planted("pad_pull_keeps_cropped"):
            found[...] = g.mean() if g.size else 0
        found[of] = g[to]
        return found

    if planted("workspace_handed_out") and value == 0:
        y = Tensor(y.reshape(-1), y.shape, dense(y.shape), 0, x.dtype)
        y.exact = x.exact
        return linked(y, (x, push, pull))
    return moved(x, y.copy(), push, pull)


def pad(a, x):
    value = a["value"]
    if planted("pad_value_through_f32") and x.dtype in ("f64", "i64"):
        value = float(np.float32(value)) if x.real else int(np.float32(value))
    if x.real:
        value = WIDE(ARRAYS[x.dtype](value))
    return padded(x, each(a["low"], x.rank), each(a["high"], x.rank), value)


def roll(a, x):
    axes = [i % x.rank for i in each(a["axes"], 1)]
    shift = each(a["shift"], len(axes))
    for axis, s in zip(axes, shift):
        n = x.shape[axis]
        if n == 0:
            continue
        if planted("roll_shift_not_reduced"):
            s = max(-n, min(n, s))
        cut = (-s) % n
        x = concat({"axis": axis}, piece(x, axis, cut, n - cut), piece(x, axis, 0, cut))
    return x


def triangle(keep):
    def rule(a, x):
        m, n = x.shape[-2:]
        key = ("triangle", keep, m, n) if planted("triangle_without_diagonal") else ("triangle", keep, m, n, a["diagonal"])

        def mask():
            i, j = np.arange(m)[:, None], np.arange(n)
            return j <= i + a["diagonal"] if keep == "lower" else j >= i + a["diagonal"]

        c = cached(key, mask)
        if planted("tril_by_product") and keep == "lower":
            return moved(x, x.array * c, lambda t: t * c, lambda g: g * c)
        zero = HELD[x.dtype](0)
        return moved(x, np.where(c, x.array, zero), lambda t: np.where(c, t, WIDE(0)), lambda g: np.where(c, g, WIDE(0)))
    return rule


def interleave(a, x, z):
    axis = a["axis"] % x.rank
    both = stack({"axis": axis + 1}, x, z)
    return reshaped(both, x.shape[:axis] + (2 * x.shape[axis],) + x.shape[axis + 1:])


def deinterleave(a, x):
    axis = a["axis"] % x.rank
    n = x.shape[axis] // 2
    return [piece(x, axis, first, n, 2) for first in (0, 1)]


def taken(x, t, axis):
    """Slices at indices along an axis; an index out of range gives 0 and has no derivative."""
    n = x.shape[axis]
    inside = (t >= 0) & (t < n)
    if planted("gather_negative_from_end"):
        t, inside = np.where(t < 0, t + n, t), (t >= -n) & (t < n)
    if planted("gather_clips"):
        inside = np.ones(t.shape, bool) if n else inside
    at = np.where(inside, np.clip(t, 0, max(n - 1, 0)), 0)
    lead, tail = axis, x.rank - axis - 1
    live = inside.reshape((1,) * lead + t.shape + (1,) * tail)
    shape = x.shape[:axis] + t.shape + x.shape[axis + 1:]

    def get(v):
        return np.where(live, np.take(v, at, axis), v.dtype.type(0)) if n else np.zeros(shape, v.dtype)

    def pull(g):
        found = np.zeros(x.shape, WIDE)
        if n:
            g = np.where(live, g, WIDE(0)).reshape(x.shape[:axis] + (t.size,) + x.shape[axis + 1:])
            front = np.moveaxis(found, axis, 0)
            if planted("gather_pull_assigns"):
                front[at.reshape(-1)] = np.moveaxis(g, axis, 0)
            else:
                np.add.at(front, at.reshape(-1), np.moveaxis(g, axis, 0))
        return found

    return moved(x, get(x.array), get, pull)


def gather(a, x, t):
    return taken(x, t.array, a["axis"] % x.rank)


def embedding(a, w, t):
    y = taken(w, t.array, 0)
    dead = (t.array == a["padding_idx"])[..., None]
    if planted("embedding_padding_negative") and a["padding_idx"] < 0:
        dead = (t.array == a["padding_idx"] + w.shape[0])[..., None]
    if planted("embedding_padding_zeroes"):
        return moved(y, np.where(dead, WIDE(0), y.array), lambda s: np.where(dead, WIDE(0), s), lambda g: np.where(dead, WIDE(0), g))
    return moved(y, y.array, lambda s: np.where(dead, WIDE(0), s), lambda g: np.where(dead, WIDE(0), g))


def scatter_add(a, x, t, s):
    axis = a["axis"] % x.rank
    n, index = x.shape[axis], t.array
    inside = ((index >= 0) & (index < n)).reshape(-1)
    if planted("scatter_negative_from_end"):
        index = np.where(index < 0, index + n, index)
        inside = ((index >= 0) & (index < n)).reshape(-1)
    at = index.reshape(-1)[inside]

    def rows(v):
        v = v.reshape(x.shape[:axis] + (t.size,) + x.shape[axis + 1:])
        return np.moveaxis(v, axis, 0)[inside]

    def added(base, v):
        y = np.moveaxis(base.copy(), axis, 0)
        if planted("scatter_buffered"):
            y[at] += rows(v)
        else:
            np.add.at(y, at, rows(v))
        return np.moveaxis(y, 0, axis)

    def pull(g):
        found = np.zeros((t.size,) + tuple(e for i, e in enumerate(x.shape) if i != axis), WIDE)
        found[inside] = np.moveaxis(g, axis, 0)[at]
        return np.moveaxis(found, 0, axis).reshape(s.shape)

    y = added(x.array, s.array)
    if not x.real:
        return fresh(y, x.dtype)
    return record(y, x.dtype, (x, lambda u: u, lambda g: g), (s, lambda u: added(np.zeros(x.shape, WIDE), u), pull))


def along(x, t, axis):
    """Places in the flattened x of elements at indices along an axis, and which lie inside."""
    inside = (t >= 0) & (t < x.shape[axis])
    grid = list(np.indices(t.shape, sparse=True))
    grid[axis] = np.where(inside, t, 0)
    return tuple(grid), inside


def take_along_axis(a, x, t):
    axis = a["axis"] % x.rank
    at, inside = along(x, t.array, axis)
    if planted("take_along_wraps"):
        n = x.shape[axis]
        at, inside = along(x, t.array % n if n else t.array, axis)

    def get(v):
        return np.where(inside, v[at], v.dtype.type(0)) if x.shape[axis] else np.zeros(t.shape, v.dtype)

    def pull(g):
        found = np.zeros(x.shape, WIDE)
        if x.size:
            np.add.at(found, at, np.where(inside, g, WIDE(0)))
        return found

    push = (lambda u: u[at]) if planted("take_tangent_out_of_range") and x.size else get
    return moved(x, get(x.array), push, pull)


def one_hot(a, t):
    axis = a["axis"] % (t.rank + 1)
    axis = t.rank if planted("one_hot_axis_last") else axis
    index = np.expand_dims(t.array, axis)
    classes = np.arange(a["classes"]).reshape([-1 if i == axis else 1 for i in range(t.rank + 1)])
    if planted("one_hot_clips"):
        index = np.clip(index, 0, a["classes"] - 1)
    if planted("one_hot_index_as_byte"):
        index = index.astype(np.uint8)
    return exact(fresh(index == classes, a["dtype"]))


def arange(a):
    start, stop, step = a["start"], a["stop"], a["step"]
    n = max(0, ((stop - start) * (1 if step > 0 else -1) + abs(step) - 1) // abs(step))
    if planted("arange_in_f32") and a["dtype"] == "f64":
        return fresh(np.cumsum(np.full(n, step, np.float32)).astype(WIDE) - step + start, "f64")
    return fresh((start + step * np.arange(n)).astype(HELD[a["dtype"]]), a["dtype"])


RULES = {"reshape": reshape, "flatten": flatten, "transpose": transpose, "swap_axes": swap_axes,
         "broadcast_to": lambda a, x: broadcast(x, a["shape"]), "concat": concat, "stack": stack, "split": split, "slice": slice_,
         "select": select, "pad": pad, "flip": flip, "roll": roll, "tril": triangle("lower"), "triu": triangle("upper"),
         "interleave": interleave, "deinterleave": deinterleave, "gather": gather, "embedding": embedding,
         "scatter_add": scatter_add, "take_along_axis": take_along_axis, "one_hot": one_hot, "arange": arange}
