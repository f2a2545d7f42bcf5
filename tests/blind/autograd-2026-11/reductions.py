"""Reductions over axes, and sums and products so far."""
import numpy as np

from core import WIDE, State, average, fresh, guarded, largest, planted, record, total, unary


def over(a, x):
    return tuple(i % x.rank for i in a["axes"]) if x.rank else ()


def rows(x, axes):
    """x with the reduced axes last and as one, in the order in which they are named."""
    kept = [i for i in range(x.rank) if i not in axes]
    n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    return np.transpose(x.array, kept + list(axes)).reshape([x.shape[i] for i in kept] + [n])


def unrows(g, x, axes):
    """The way back of `rows`, for a cotangent."""
    order = [i for i in range(x.rank) if i not in axes] + list(axes)
    return np.transpose(g.reshape([x.shape[i] for i in order]), np.argsort(order))


def kept_shape(x, axes, keepdims):
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes)


def sum_(a, x):
    axes = over(a, x)
    if planted("sum_empty_axes_as_all") and not axes and x.rank:
        y = total(x, range(x.rank))
        return y if a["keepdims"] else unary(y, lambda v: v)
    if not x.real:
        if planted("sum_i64_by_f64"):
            return fresh(x.array.astype(float).sum(axes, keepdims=a["keepdims"]).astype(x.array.dtype), x.dtype)
        return fresh(x.array.sum(axes, dtype=x.array.dtype, keepdims=a["keepdims"]), x.dtype)
    return total(x, axes, a["keepdims"])


def mean(a, x):
    axes = over(a, x)
    if planted("mean_pull_divides_by_first") and len(axes) > 1:
        n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
        kept = kept_shape(x, axes, True)
        return record(total(x, axes, a["keepdims"]).array / n, x.dtype,
                      (x, lambda t: t.sum(axes, keepdims=a["keepdims"]) / n,
                       lambda g: np.broadcast_to(g.reshape(kept), x.shape) / x.shape[axes[0]]))
    return average(x, axes, a["keepdims"])


def extreme(f, where):
    """max and min: the first of equals has the derivative."""
    def rule(a, x):
        axes = over(a, x)
        v = rows(x, axes)
        at = np.asarray(where(v, -1))
        if planted("max_tie_last") and f is np.max:
            at = v.shape[-1] - 1 - np.asarray(where(v[..., ::-1], -1))
        y = np.take_along_axis(v, at[..., None], -1)[..., 0]
        shape = kept_shape(x, axes, a["keepdims"])
        if not x.real:
            return fresh(y.reshape(shape), x.dtype)

        def pull(g):
            found = np.zeros(v.shape, WIDE)
            if planted("max_pull_spreads") and f is np.max:
                same = v == y[..., None]
                return unrows(same / same.sum(-1, keepdims=True) * g.reshape(y.shape)[..., None], x, axes)
            np.put_along_axis(found, at[..., None], g.reshape(y.shape)[..., None], -1)
            return unrows(found, x, axes)

        def push(t):
            order = [i for i in range(x.rank) if i not in axes] + list(axes)
            return np.take_along_axis(np.transpose(t, order).reshape(v.shape), at[..., None], -1)[..., 0].reshape(shape)

        return record(y.reshape(shape), x.dtype, (x, push, pull))
    return rule


def position(where):
    def rule(a, x):
        axes = over(a, x)
        if planted("argmax_axes_sorted") and where is np.argmax:
            axes = tuple(sorted(axes))
        v = rows(x, axes)
        if planted("argmax_starts_at_lowest") and where is np.argmax and x.real:
            at = np.argmax(np.where(v > -np.finfo(np.float32).max, v, WIDE(-np.inf)), -1)
            at = np.where((v == -np.inf).all(-1), v.shape[-1] - 1, at)
        elif planted("argmin_of_negative") and where is np.argmin and not x.real:
            at = np.argmax(-v, -1)
        elif planted("argmax_i64_by_f64") and where is np.argmax and x.dtype == "i64":
            at = np.argmax(v.astype(float), -1)
        else:
            at = where(v, -1)
        return fresh(np.asarray(at).reshape(kept_shape(x, axes, a["keepdims"])), "i64")
    return rule


def truth(f):
    return lambda a, x: fresh(f(x.array, over(a, x), keepdims=a["keepdims"]), "bool")


def without_each(v):
    """The product of the others, along the last axis."""
    before = np.cumprod(np.concatenate([np.ones_like(v[..., :1]), v[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([np.ones_like(v[..., :1]), v[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def slopes(y, v, quotient):
    """Of the product y of the last axis of v by each factor: the product of the others."""
    return y[..., None] / v if quotient or not v.size else without_each(v)


def prod(a, x):
    axes = over(a, x)
    v = rows(x, axes)
    shape = kept_shape(x, axes, a["keepdims"])
    if not x.real:
        if planted("prod_i64_by_f64"):
            return fresh(np.prod(v.astype(float), -1).astype(v.dtype).reshape(shape), x.dtype)
        return fresh(np.prod(v, -1, dtype=v.dtype).reshape(shape), x.dtype)
    y = np.prod(v, -1)
    others = slopes(y, v, planted("prod_slope_by_quotient"))
    if planted("prod_slope_zero_at_zero"):
        others = np.where(v == 0, WIDE(0), others)

    def push(t):
        order = [i for i in range(x.rank) if i not in axes] + list(axes)
        return (np.transpose(t, order).reshape(v.shape) * others).sum(-1).reshape(shape)

    return record(y.reshape(shape), x.dtype, (x, push, lambda g: unrows(others * g.reshape(y.shape)[..., None], x, axes)))


def spread(x, axes, correction, keepdims):
    n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
    d = x - average(x, axes, True)
    return total(d * d, axes, keepdims) / (n - correction)


def var(a, x):
    axes = over(a, x)
    correction = a["correction"]
    if planted("var_correction_as_flag"):
        correction = min(correction, 1)
    if planted("var_of_squares"):
        n = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
        m = average(x, axes, a["keepdims"])
        v = fresh(x.array.astype(np.float64), x.dtype)
        squares = fresh((v.array ** 2).sum(axes, keepdims=a["keepdims"]).astype(np.float64 if x.dtype == "f64" else np.float32), x.dtype)
        y = spread(x, axes, correction, a["keepdims"])
        value = (squares.array - n * (m.array.astype(np.float64) ** 2)) / (n - correction)
        return y + fresh(value - y.array, x.dtype)
    return spread(x, axes, correction, a["keepdims"])


def root(v):
    if planted("root_not_guarded"):
        return unary(v, np.sqrt, lambda u, y: 0.5 / y)
    return guarded(~(v.array <= 0), v, lambda u: unary(u, np.sqrt, lambda w, y: 0.5 / y), 0)


def std(a, x):
    correction = 1 if planted("std_correction_fixed") else a["correction"]
    return root(spread(x, over(a, x), correction, a["keepdims"]))


def logsumexp(a, x):
    axes = over(a, x)
    top = largest(x, axes)
    if not planted("logsumexp_infinite_shift"):
        top = fresh(np.where(np.isinf(top.array), WIDE(0), top.array), x.dtype)
    if planted("logsumexp_shift_by_all"):
        top = fresh(np.broadcast_to(x.array.max() if x.size else WIDE(0), top.shape), x.dtype)
        e = unary(x - top, lambda v: np.exp(v.astype(np.float64)).astype(WIDE), lambda v, y: y)
    else:
        e = unary(x - top, np.exp, lambda v, y: y)
    y = unary(total(e, axes, True), np.log, lambda v, _: 1 / v) + top
    shape = kept_shape(x, axes, a["keepdims"])
    return record(y.array.reshape(shape), x.dtype, (y, lambda t: t.reshape(shape), lambda g: g.reshape(y.shape)))


def norm(a, x):
    axes = over(a, x)
    if a["ord"] == "two":
        if planted("norm_squares_in_f32"):
            s = total(unary(x, lambda v: (v * v).astype(np.float32).astype(WIDE), lambda v, y: 2 * v), axes, a["keepdims"])
        else:
            s = total(x * x, axes, a["keepdims"])
        return root(s)
    m = unary(x, np.abs, lambda v, y: np.sign(v))
    if a["ord"] == "one":
        return total(m, axes, a["keepdims"])
    if any(x.shape[i] == 0 for i in axes):
        return fresh(np.zeros(kept_shape(x, axes, a["keepdims"])), x.dtype)
    return extreme(np.max, np.argmax)({**a, "axes": axes}, m)


def running(a, x):
    """The axis of a cumulative operation last, read from the end where reversed."""
    axis = a["axis"] % max(1, x.rank)
    turn = lambda v: np.moveaxis(v, axis, -1)[..., ::-1 if a["reverse"] else 1]
    back = lambda v: np.moveaxis(v[..., ::-1 if a["reverse"] else 1], -1, axis)
    return turn, back


def shifted(v, first):
    return np.concatenate([np.full_like(v[..., :1], first), v[..., :-1]], -1)


def cumsum(a, x):
    turn, back = running(a, x)

    def so_far(v):
        if planted("cumsum_exclusive_by_subtraction") and a["exclusive"]:
            return np.cumsum(v, -1, dtype=v.dtype) - v
        y = np.cumsum(v, -1, dtype=v.dtype)
        return shifted(y, 0) if a["exclusive"] else y

    def push(t):
        if planted("cumsum_tangent_not_exclusive"):
            return back(np.cumsum(turn(t), -1))
        return back(so_far(turn(t)))

    def pull(g):
        v = turn(g)
        if planted("cumsum_pull_not_exclusive"):
            return back(np.cumsum(v[..., ::-1], -1)[..., ::-1])
        if planted("cumsum_pull_ignores_reverse"):
            v = np.moveaxis(g, a["axis"] % x.rank, -1)
            y = np.cumsum(v[..., ::-1], -1)
            return np.moveaxis((shifted(y, 0) if a["exclusive"] else y)[..., ::-1], -1, a["axis"] % x.rank)
        y = np.cumsum(v[..., ::-1], -1)
        return back((shifted(y, 0) if a["exclusive"] else y)[..., ::-1])

    y = back(so_far(turn(x.array)))
    return record(y, x.dtype, (x, push, pull)) if x.real else fresh(y, x.dtype)


def cumprod(a, x):
    turn, back = running(a, x)
    v = turn(x.array)
    n = v.shape[-1]
    y = np.cumprod(v, -1, dtype=v.dtype)
    y = shifted(y, 1) if a["exclusive"] else y
    if not x.real:
        return fresh(back(y), x.dtype)

    def factors():
        """slope[..., j, k]: the product of the factors of y[j] but k."""
        found = np.zeros(v.shape + (n,), WIDE)
        for j in range(n):
            last = j if a["exclusive"] else j + 1
            if last:
                u = v[..., :last]
                found[..., j, :last] = slopes(y[..., j], u, planted("cumprod_slope_by_quotient"))
        return found

    def push(t):
        """Dual numbers along the axis: each is the last one times its factor."""
        t, found = turn(t), np.zeros(v.shape, WIDE)
        value, slope = np.ones(v.shape[:-1], WIDE), np.zeros(v.shape[:-1], WIDE)
        for j in range(n):
            if a["exclusive"]:
                found[..., j] = slope
            value, slope = value * v[..., j], slope * v[..., j] + value * t[..., j]
            if not a["exclusive"]:
                found[..., j] = slope
        return back(found)

    s = factors() if State.mode == "vjp" else None
    return record(back(y), x.dtype, (x, push, lambda g: back(np.einsum("...jk,...j->...k", s, turn(g)))))


RULES = {"sum": sum_, "mean": mean, "max": extreme(np.max, np.argmax), "min": extreme(np.min, np.argmin),
         "argmax": position(np.argmax), "argmin": position(np.argmin), "any": truth(np.any), "all": truth(np.all), "prod": prod,
         "var": var, "std": std, "logsumexp": logsumexp, "norm": norm, "cumsum": cumsum, "cumprod": cumprod}
