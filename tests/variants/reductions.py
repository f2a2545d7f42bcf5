"""Reductions over axes; those that go stand last inside, in one axis."""
import numpy as np

from arithmetic import Variant, need


def rows(a, x):
    """One row per kept place, and the shape of the result."""
    axes = [i % max(1, x.ndim) for i in a["axes"]] if isinstance(a["axes"], list) else list(range(x.ndim))
    kept = [i for i in range(x.ndim) if i not in axes]
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape)) if a["keepdims"] else tuple(x.shape[i] for i in kept)
    count = int(np.prod([x.shape[i] for i in axes], dtype=int))
    return np.transpose(x, kept + axes).reshape([x.shape[i] for i in kept] + [count]), shape, (kept + axes, [x.shape[i] for i in kept + axes])


def back(t, order):
    """Rows as the operand lay."""
    return np.transpose(t.reshape(order[1]), np.argsort(order[0])) if order[0] else t.reshape(())


def reduced(f):
    def value(k, a, x):
        r, shape, _ = rows(a, x)
        need(r.shape[-1] > 0, "shape", "something to reduce")
        return np.asarray(f(k, a, r), k.T).reshape(shape)
    return value


def pulled(f):
    """f takes rows of x, the value and the cotangent per row."""
    def vjp(k, a, x, y, g):
        r, _, order = rows(a, x[0])
        each = r.shape[:-1] + (1,)
        return [back(np.broadcast_to(f(k, a, r, y[0].reshape(each), g.reshape(each)), r.shape), order)]
    return vjp


def pushed(f):
    def jvp(k, a, x, y, d):
        r, shape, _ = rows(a, x[0])
        return [np.asarray(f(k, a, r, y[0].reshape(r.shape[:-1]), rows(a, d[0])[0]), k.T).reshape(shape)]
    return jvp


def sequential(k, a, r):
    return k.folded(np.moveaxis(r, -1, 0))


def kahan(k, a, r):
    total, lost = k.zeros(r.shape[:-1]), k.zeros(r.shape[:-1])
    for j in range(r.shape[-1]):
        term = r[..., j] - lost
        new = total + term
        lost = (new - total) - term
        total = new
    return total


def pairwise(k, a, r):
    while r.shape[-1] > 1:
        odd = r[..., -1:] if r.shape[-1] % 2 else r[..., :0]
        r = np.concatenate([r[..., 0:r.shape[-1] - r.shape[-1] % 2:2] + r[..., 1::2], odd], -1)
    return r[..., 0]


def lanes(k, a, r):
    partial = [k.folded(np.moveaxis(r[..., j::4], -1, 0), k.zeros(r.shape[:-1])) for j in range(4)]
    return (partial[0] + partial[1]) + (partial[2] + partial[3])


def mean_of(total):
    return lambda k, a, r: total(k, a, r) / k.c(r.shape[-1])


def mean_running(k, a, r):
    m = k.zeros(r.shape[:-1])
    for j in range(r.shape[-1]):
        m = m + (r[..., j] - m) / k.c(j + 1)
    return m


def centred(k, r):
    return r - (np.sum(r, axis=-1) / k.c(r.shape[-1]))[..., None]


def squares(k, r):
    d = centred(k, r)
    return np.sum(d * d, axis=-1)


def freedom(k, a, r):
    return k.c(r.shape[-1] - a["correction"])


def var_numpy(k, a, r):
    return squares(k, r) / freedom(k, a, r)


def var_welford(k, a, r):
    mean, m2 = k.zeros(r.shape[:-1]), k.zeros(r.shape[:-1])
    for j in range(r.shape[-1]):
        away = r[..., j] - mean
        mean = mean + away / k.c(j + 1)
        m2 = m2 + away * (r[..., j] - mean)
    return m2 / freedom(k, a, r)


def var_chan(k, a, r):
    """Two halves and the distance of their means."""
    n, h = r.shape[-1], r.shape[-1] // 2
    if h == 0:
        return var_numpy(k, a, r)
    left, right = r[..., :h], r[..., h:]
    delta = np.sum(right, axis=-1) / k.c(n - h) - np.sum(left, axis=-1) / k.c(h)
    return (squares(k, left) + squares(k, right) + delta * delta * k.c(h * (n - h) / n)) / freedom(k, a, r)


def var_moments(k, a, r):
    n = k.c(r.shape[-1])
    mean = np.sum(r, axis=-1) / n
    return (np.sum(r * r, axis=-1) / n - mean * mean) * (n / freedom(k, a, r))


def var_shifted(k, a, r):
    d = r - r[..., :1]
    s = np.sum(d, axis=-1)
    return (np.sum(d * d, axis=-1) - s * s / k.c(r.shape[-1])) / freedom(k, a, r)


def root(f):
    return lambda k, a, r: np.sqrt(np.maximum(f(k, a, r), k.c(0)))


def std_vjp(k, a, r, y, g):
    return np.where(y == 0, k.c(0), (k.c(2 / (r.shape[-1] - a["correction"])) * (g / (y * k.c(2)))) * centred(k, r))


def std_vjp_direct(k, a, r, y, g):
    return np.where(y == 0, k.c(0), g * centred(k, r) / (y * freedom(k, a, r)))


def two_only(f):
    def value(k, a, r):
        need(a["ord"] == "two", "attribute", "the Euclidean norm")
        return f(k, a, r)
    return value


def norm(k, a, r):
    return np.sqrt(np.sum(r * r, axis=-1))


def norm_scaled(k, a, r):
    m = np.max(np.abs(r), axis=-1)
    safe = np.where((m == 0) | np.isinf(m), k.c(1), m)
    y = m * np.sqrt(np.sum((r / safe[..., None]) * (r / safe[..., None]), axis=-1))
    return np.where(m == 0, k.c(0), np.where(np.isinf(m), m, y))


def norm_vjp(order):
    return two_only_vjp(lambda k, a, r, y, g: np.where(y == 0, k.c(0), r * (g / y) if order else g * (r / y)))


def two_only_vjp(f):
    def vjp(k, a, r, y, g):
        need(a["ord"] == "two", "attribute", "the Euclidean norm")
        return f(k, a, r, y, g)
    return vjp


def largest(k, r):
    m = np.max(r, axis=-1)
    return np.where(np.isinf(m), k.c(0), m)


def logsumexp(k, a, r):
    m = largest(k, r)
    return m + k.log(np.sum(k.exp(r - m[..., None]), axis=-1))


def logsumexp_scipy(k, a, r):
    """The largest apart: log1p of the others."""
    m = np.max(r, axis=-1)
    need(np.all(np.isfinite(m)), "shape", "finite numbers")
    at = np.argmax(r, axis=-1)
    e = k.exp(r - m[..., None])
    np.put_along_axis(e, at[..., None], k.c(0), -1)
    return k.log1p(np.sum(e, axis=-1)) + m


def running(f):
    """Along one axis, with the attributes of cumsum."""
    def value(k, a, x):
        need(x.size, "shape", "some elements")
        r = np.moveaxis(x, a["axis"], -1)
        r = r[..., ::-1] if a["reverse"] else r
        y = f(k, r)
        if a["exclusive"]:
            y = np.concatenate([np.full(r.shape[:-1] + (1,), k.c(f.start)), y[..., :-1]], -1)
        return np.moveaxis(y[..., ::-1] if a["reverse"] else y, -1, a["axis"])
    return value


def cumsum_blocks(k, r):
    out, before = [], k.zeros(r.shape[:-1] + (1,))
    for j in range(0, r.shape[-1], 4):
        block = np.cumsum(r[..., j:j + 4], axis=-1, dtype=k.T) + before
        out, before = out + [block], block[..., -1:]
    return np.concatenate(out, -1)


def scan(op):
    """Hillis and Steele: log n passes."""
    def passes(k, r):
        step = 1
        while step < r.shape[-1]:
            r = np.concatenate([r[..., :step], op(r[..., step:], r[..., :-step])], -1)
            step *= 2
        return r
    passes.start = 0 if op is np.add else 1
    return passes


cumsum_blocks.start = 0


def prod_torch_vjp(k, a, r, y, g):
    zero = np.any(r == 0, axis=-1, keepdims=True)
    before = np.concatenate([k.ones(r.shape[:-1] + (1,)), np.cumprod(r, axis=-1, dtype=k.T)[..., :-1]], -1)
    after = np.concatenate([np.cumprod(r[..., ::-1], axis=-1, dtype=k.T)[..., ::-1][..., 1:], k.ones(r.shape[:-1] + (1,))], -1)
    return np.where(zero, g * (before * after), g * (y / np.where(r == 0, k.c(1), r)))


CANCELS = {"f32 forward": "squares cancel where the mean is large", "f64 forward": "squares cancel where the mean is large"}
SUM_BACK = pulled(lambda k, a, r, y, g: g)
VARIANTS = [
    Variant("sum_sequential", "sum", "TensorFlow.js cpu Sum, C loops", reduced(sequential), SUM_BACK),
    Variant("sum_kahan", "sum", "Kahan 1965", reduced(kahan)),
    Variant("sum_pairwise", "sum", "NumPy pairwise_sum", reduced(pairwise)),
    Variant("sum_lanes", "sum", "PyTorch SumKernel.cpp cascade_sum, four lanes", reduced(lanes)),
    Variant("sum_wide", "sum", "PyTorch acc_type, f64 accumulators", reduced(lambda k, a, r: np.sum(r.astype(k.wide), axis=-1).astype(k.T))),
    Variant("mean_reciprocal", "mean", "Eigen MeanReducer, PyTorch MeanOps: sum*(1/n)", reduced(lambda k, a, r: np.sum(r, axis=-1) * (k.c(1) / k.c(r.shape[-1])))),
    Variant("mean_numpy", "mean", "NumPy _mean: add.reduce / n", reduced(mean_of(pairwise)), pulled(lambda k, a, r, y, g: g / k.c(r.shape[-1]))),
    Variant("mean_terms", "mean", "TensorFlow Lite Mean: sum of x/n", reduced(lambda k, a, r: np.sum(r / k.c(r.shape[-1]), axis=-1))),
    Variant("mean_running", "mean", "Welford's mean: m + (x - m)/j", reduced(mean_running),
            loses={"f32 forward": "each element rounds the mean anew", "f64 forward": "each element rounds the mean anew"}, rare=True),
    Variant("var_numpy", "var", "NumPy _var, two passes", reduced(var_numpy),
            pulled(lambda k, a, r, y, g: (k.c(2 / (r.shape[-1] - a["correction"])) * g) * centred(k, r))),
    Variant("var_welford", "var", "PyTorch SharedReduceOps.h WelfordOps", reduced(var_welford)),
    Variant("var_chan", "var", "PyTorch WelfordOps::combine, Chan et al. 1979", reduced(var_chan)),
    Variant("var_moments", "var", "Flax use_fast_variance, cuDNN spatial batch norm: E[x*x] - E[x]^2", reduced(var_moments), loses=CANCELS),
    Variant("var_shifted", "var", "the first element subtracted: TensorFlow sufficient_statistics(shift)", reduced(var_shifted), loses=CANCELS),
    Variant("std_torch", "std", "PyTorch FunctionsManual.cpp std_backward: grad/(result*2) into var_backward", reduced(root(var_numpy)), pulled(std_vjp)),
    Variant("std_direct", "std", "HIPS autograd numpy_vjps.py grad_np_std: g*(x - mean)/((n - ddof)*std)", reduced(root(var_numpy)), pulled(std_vjp_direct)),
    Variant("norm_torch", "norm", "PyTorch linalg vector_norm; norm_backward: self*(grad/norm)", reduced(two_only(norm)), pulled(norm_vjp(True))),
    Variant("norm_jax", "norm", "TensorFlow norm's gradient by sqrt and square: g*(x/norm)", reduced(two_only(norm)), pulled(norm_vjp(False))),
    Variant("norm_scaled", "norm", "LAPACK dlassq, BLAS nrm2: scaled by the largest", reduced(two_only(norm_scaled)),
            loses={"f32 forward": "each element is divided before it is squared", "f64 forward": "each element is divided before it is squared"}),
    Variant("logsumexp_torch", "logsumexp", "PyTorch ReduceOps.cpp logsumexp_out_impl; backward g*exp(x - y)", reduced(logsumexp),
            pulled(lambda k, a, r, y, g: g * k.exp(r - y)), pushed(lambda k, a, r, y, d: np.sum(d * k.exp(r - y[..., None]), axis=-1))),
    Variant("logsumexp_jax", "logsumexp", "jax.scipy.special.logsumexp with stop_gradient: exp/sum", reduced(logsumexp),
            pulled(lambda k, a, r, y, g: g / np.sum(k.exp(r - largest(k, r)[..., None]), axis=-1, keepdims=True) * k.exp(r - largest(k, r)[..., None]))),
    Variant("logsumexp_scipy", "logsumexp", "SciPy 1.15 _logsumexp: log1p of all but the largest", reduced(logsumexp_scipy)),
    Variant("cumsum_blocks", "cumsum", "PyTorch ScanKernels.cu: blocks of a row", running(cumsum_blocks)),
    Variant("cumsum_scan", "cumsum", "XLA AssociativeScan, Hillis and Steele", running(scan(np.add))),
    Variant("cumprod_scan", "cumprod", "XLA AssociativeScan, Hillis and Steele", running(scan(np.multiply))),
    Variant("prod_torch", "prod", "PyTorch FunctionsManual.cpp prod_backward: grad*(result/input), safe where zeros are",
            reduced(lambda k, a, r: np.prod(r, axis=-1, dtype=k.T)), pulled(prod_torch_vjp)),
]
