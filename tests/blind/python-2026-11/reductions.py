"""Reductions over axes, and running sums and products."""
import numpy as np

from core import Rule, linear_map, number, planted, real


def axes_of(a):
    return tuple(a["axes"])


def spread(a, g, x):
    """A reduced array beside the operand: its axes again, of extent 1."""
    g = np.asarray(g)
    if a["keepdims"]:
        return g
    if planted("sum_vjp_square") and g.ndim and np.broadcast_shapes(g.shape, x.shape) == x.shape:
        return g
    return np.expand_dims(g, axes_of(a))


def lines(x, axes):
    """The reduced axes as one, at the end, row-major in the order given."""
    kept = [i for i in range(x.ndim) if i not in axes]
    y = np.transpose(x, kept + list(axes))
    return y.reshape([x.shape[i] for i in kept] + [int(np.prod([x.shape[i] for i in axes], dtype=np.int64))])


def unlines(y, x, axes):
    kept = [i for i in range(x.ndim) if i not in axes]
    order = kept + list(axes)
    return np.transpose(y.reshape([x.shape[i] for i in order]), np.argsort(order))


def shaped(a, y, x):
    """The result of a reduction that was computed on lines."""
    return y.reshape([1 if i in a["axes"] else n for i, n in enumerate(x.shape)]) if a["keepdims"] else y


def summed(a, x):
    if planted("sum_tail") and real(x) and len(a["axes"]) == 1:
        n = x.shape[a["axes"][0]]
        if n > 16 and n % 16 == 15:
            x = np.take(x, np.arange(n - 1), a["axes"][0])
    if planted("sum_i64_by_f64") and x.dtype == np.int64:
        return np.sum(x.astype(float), axes_of(a), keepdims=a["keepdims"]).astype(np.int64)
    if planted("sum_i32_wide_then_clipped") and x.dtype == np.int32:
        return np.clip(np.sum(x, axes_of(a), np.int64, keepdims=a["keepdims"]), -2**31, 2**31 - 1).astype(np.int32)
    return np.sum(x, axes_of(a), x.dtype, keepdims=a["keepdims"])


def sum_vjp(a, x, y, g):
    return [np.array(np.broadcast_to(spread(a, g, x[0]), x[0].shape))]


def count(a, x):
    if planted("mean_first_axis") and len(a["axes"]) > 1:
        return x.shape[a["axes"][0]]
    return np.prod([x.shape[i] for i in a["axes"]], dtype=np.float64)


def mean(a, x):
    n = count(a, x)
    return np.sum(x, axes_of(a), keepdims=a["keepdims"]) / (max(n, 1) if planted("mean_of_nothing") else n)


def others(rows):
    """The product of all elements of a row but one."""
    one = np.ones(rows.shape[:-1] + (1,))
    before = np.cumprod(np.concatenate([one, rows[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([one, rows[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def prod_parts(a, x):
    rows = lines(x, a["axes"])
    if rows.shape[-1] == 0:
        return np.zeros(x.shape)
    if planted("prod_vjp_divides"):
        return np.prod(x, axes_of(a), keepdims=True) / x
    return unlines(others(rows), x, a["axes"])


def first(x, largest):
    rows = lines(*x)
    return np.argmax(rows, -1) if largest else np.argmin(rows, -1)


def arg(largest):
    def function(a, x):
        axes = a["axes"]
        if planted("argmax_last"):
            rows = lines(x, axes)[..., ::-1]
            found = rows.shape[-1] - 1 - (np.argmax(rows, -1) if largest else np.argmin(rows, -1))
        elif planted("argmax_column_major") and len(axes) > 1:
            order = [i for i in range(x.ndim) if i not in axes] + axes[::-1]
            rows = np.transpose(x, order).reshape([x.shape[i] for i in order[:x.ndim - len(axes)]] + [-1])
            found = np.argmax(rows, -1) if largest else np.argmin(rows, -1)
        else:
            found = first((x, axes), largest)
        return shaped(a, np.asarray(found, np.int64), x)
    return Rule(function)


def mark(a, x, largest):
    """1 at the first extremum of every line, 0 elsewhere."""
    rows = lines(x, a["axes"])
    if planted("max_tie_shared"):
        top = np.max(rows, -1, keepdims=True) if largest else np.min(rows, -1, keepdims=True)
        hit = (rows == top) * 1.0
        return unlines(hit / np.sum(hit, -1, keepdims=True), x, a["axes"])
    one = np.zeros(rows.shape)
    np.put_along_axis(one, np.expand_dims(first((x, a["axes"]), largest), -1), 1.0, -1)
    return unlines(one, x, a["axes"])


def marked(a, m, d):
    return np.sum(np.where(m > 0, m * d, 0.0), axes_of(a), keepdims=a["keepdims"])


def extremum(f, largest):
    return Rule(lambda a, x: f(x, axes_of(a), keepdims=a["keepdims"]),
                lambda a, x, y, dx: marked(a, mark(a, x[0], largest), dx[0]),
                lambda a, x, y, g: [np.where(mark(a, x[0], largest) > 0, mark(a, x[0], largest) * spread(a, g, x[0]), 0.0)])


def deviations(a, x):
    n = np.prod([x.shape[i] for i in a["axes"]], dtype=np.float64)
    d = x - np.sum(x, axes_of(a), keepdims=True) / n
    return d, n - (1 if planted("var_correction_fixed") and n > 1 else number(a["correction"]))


def var(a, x):
    d, n = deviations(a, x)
    if planted("var_one_pass"):
        m = np.mean(x, axes_of(a), keepdims=a["keepdims"])
        size = np.prod([x.shape[i] for i in a["axes"]], dtype=np.float64)
        return (np.mean(x * x, axes_of(a), keepdims=a["keepdims"]) - m * m) * size / n
    return np.sum(d * d, axes_of(a), keepdims=a["keepdims"]) / n


def var_jvp(a, x, y, dx):
    d, n = deviations(a, x[0])
    e, _ = deviations(a, dx[0])
    return np.sum(2 * d * e, axes_of(a), keepdims=a["keepdims"]) / n


def var_vjp(a, x, y, g):
    d, n = deviations(a, x[0])
    return [2 * d * spread(a, g, x[0]) / n]


def std(a, x):
    v = var(a, x)
    return np.where(v <= 0, 0.0, np.sqrt(v))


def root_slope(y):
    if planted("std_slope_at_zero"):
        return 1 / (2 * y)
    return np.where(y == 0, 0.0, 1 / (2 * np.where(y == 0, 1.0, y)))


def exponentials(a, x):
    if 0 in [x.shape[i] for i in a["axes"]]:
        return x, np.zeros([1 if i in a["axes"] else n for i, n in enumerate(x.shape)])
    top = np.max(x, axes_of(a), keepdims=True)
    shift = top if planted("logsumexp_infinite_shift") else np.where(np.isinf(top), 0.0, top)
    return np.exp(x - shift), shift


def logsumexp(a, x):
    e, shift = exponentials(a, x)
    y = shift + np.log(np.sum(e, axes_of(a), keepdims=True))
    return y if a["keepdims"] else np.squeeze(y, axes_of(a))


def weights(a, x):
    e, _ = exponentials(a, x)
    return e / np.sum(e, axes_of(a), keepdims=True)


def norm(a, x):
    if a["ord"] == "one":
        return np.sum(np.abs(x), axes_of(a), keepdims=a["keepdims"])
    if a["ord"] == "infinity":
        return np.max(np.abs(x), axes_of(a), keepdims=a["keepdims"], initial=0.0)
    return np.sqrt(np.sum(x * x, axes_of(a), keepdims=a["keepdims"]))


def norm_slope(a, x):
    if a["ord"] == "one":
        return np.sign(x)
    if x.size == 0:
        return x
    if a["ord"] == "infinity":
        sign = np.ones_like(x) if planted("norm_infinity_sign") else np.sign(x)
        return mark(a, np.abs(x), True) * sign
    n = np.sqrt(np.sum(x * x, axes_of(a), keepdims=True))
    return x / n if planted("norm_slope_at_zero") else np.where(n == 0, 0.0, x / np.where(n == 0, 1.0, n))


def sloped(f, slope):
    """A reduction to one number per line, from the slopes in its elements."""
    return Rule(f, lambda a, x, y, dx: np.sum(slope(a, x[0]) * dx[0], axes_of(a), keepdims=a["keepdims"]),
                lambda a, x, y, g: [slope(a, x[0]) * spread(a, g, x[0])])


def forwards(f):
    """A scan from the front, applied from the end where `reverse`."""
    def function(a, x, *rest):
        flip = (lambda v: np.flip(v, a["axis"])) if a["reverse"] else (lambda v: v)
        return flip(f(a, *(flip(v) for v in (x,) + rest)))
    return function


def shifted(x, axis, value):
    """One place further, with the value in front."""
    start = np.full([1 if i == axis % x.ndim else n for i, n in enumerate(x.shape)], value, x.dtype)
    return np.concatenate([start, x], axis).take(np.arange(x.shape[axis]), axis)


@forwards
def cumsum(a, x):
    y = np.cumsum(x, a["axis"], x.dtype)
    if planted("cumsum_reverse_exclusive") and a["reverse"]:
        return y
    return shifted(y, a["axis"], 0) if a["exclusive"] else y


def cumsum_vjp(a, x, y, g):
    return [cumsum({**a, "reverse": not a["reverse"]}, g)]


@forwards
def cumprod(a, x):
    y = np.cumprod(x, a["axis"], x.dtype)
    return shifted(y, a["axis"], 1) if a["exclusive"] else y


@forwards
def cumprod_jvp(a, x, dx):
    if planted("cumprod_jvp_divides"):
        y = np.cumprod(x, a["axis"]) * np.cumsum(dx / x, a["axis"])
        return shifted(y, a["axis"], 0) if a["exclusive"] else y
    rows, moves = np.moveaxis(x, a["axis"], 0), np.moveaxis(dx, a["axis"], 0)
    d, y = np.empty(rows.shape), np.ones(rows.shape[1:])
    t = np.zeros(rows.shape[1:])
    for j in range(len(rows)):
        t = t * rows[j] + y * moves[j]
        y = y * rows[j]
        d[j] = t
    d = np.moveaxis(d, 0, a["axis"])
    return shifted(d, a["axis"], 0) if a["exclusive"] else d


@forwards
def cumprod_vjp(a, x, g):
    if a["exclusive"]:
        g = np.flip(shifted(np.flip(g, a["axis"]), a["axis"], 0), a["axis"])
    rows, g = np.moveaxis(x, a["axis"], 0), np.moveaxis(g, a["axis"], 0)
    before = shifted(np.cumprod(rows, 0), 0, 1) if len(rows) else rows
    c, t = np.empty(rows.shape), np.zeros(rows.shape[1:])
    for j in reversed(range(len(rows))):
        t = g[j] + (t * rows[j + 1] if j + 1 < len(rows) else 0)
        c[j] = t * before[j]
    return np.moveaxis(c, 0, a["axis"])


RULES = {
    "sum": linear_map(summed, sum_vjp),
    "mean": linear_map(mean, lambda a, x, y, g: [np.broadcast_to(spread(a, g, x[0]), x[0].shape) / count(a, x[0])]),
    "prod": Rule(lambda a, x: np.prod(x, axes_of(a), x.dtype, keepdims=a["keepdims"]),
                 lambda a, x, y, dx: np.sum(prod_parts(a, x[0]) * dx[0], axes_of(a), keepdims=a["keepdims"]),
                 lambda a, x, y, g: [prod_parts(a, x[0]) * spread(a, g, x[0])]),
    "max": extremum(np.max, True), "min": extremum(np.min, False),
    "argmax": arg(True), "argmin": arg(False),
    "any": Rule(lambda a, x: np.any(x, axes_of(a), keepdims=a["keepdims"])),
    "all": Rule(lambda a, x: np.all(x, axes_of(a), keepdims=a["keepdims"])),
    "var": Rule(var, var_jvp, var_vjp),
    "std": Rule(std, lambda a, x, y, dx: var_jvp(a, x, y, dx) * root_slope(y),
                lambda a, x, y, g: var_vjp(a, x, y, g * root_slope(y))),
    "logsumexp": sloped(logsumexp, weights),
    "norm": sloped(norm, norm_slope),
    "cumsum": linear_map(cumsum, cumsum_vjp),
    "cumprod": Rule(cumprod, lambda a, x, y, dx: cumprod_jvp(a, x[0], dx[0]),
                    lambda a, x, y, g: [cumprod_vjp(a, x[0], g)]),
}
