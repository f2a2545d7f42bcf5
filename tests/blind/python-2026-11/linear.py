"""Products of matrices and vectors."""
import numpy as np

from core import Rule, planted, real
from elementwise import unbroadcast


def product(x, y):
    if planted("matmul_i64_by_f64") and x.dtype == np.int64:
        return np.matmul(x.astype(float), y.astype(float)).astype(np.int64)
    k = x.shape[-1]
    if planted("matmul_inner_tail") and real(x) and k > 8 and k % 4:
        x, y = x[..., :k // 4 * 4], (y[:k // 4 * 4] if y.ndim == 1 else y[..., :k // 4 * 4, :])
    return np.matmul(x, y)


def batch_sum(g, shape):
    if planted("matmul_vjp_batch_first") and len(shape) > 2:
        lead = g.ndim - len(shape)
        g = np.sum(g, tuple(range(lead)))
        return g[tuple(slice(0, 1) if n == 1 else slice(None) for n in shape[:-2])]
    return unbroadcast(g, shape)


def bilinear(f, vjp):
    def jvp(a, x, y, dx):
        left = None if dx[0] is None else f(dx[0], x[1])
        right = None if dx[1] is None else f(x[0], dx[1])
        return right if left is None else left if right is None else left + right
    return Rule(lambda a, x, y: f(x, y), jvp, vjp)


def matmul_vjp(a, x, y, g):
    p, q = x
    if p.ndim == 1 and q.ndim == 1:
        return [g * q, g * p]
    if q.ndim == 1:
        return [unbroadcast(g[..., None] * q, p.shape), np.sum(g[..., None] * p, tuple(range(g.ndim)))]
    if p.ndim == 1:
        if planted("matmul_vector_vjp"):
            first = np.matmul(q, g[..., None])[..., 0]
            return [first[(0,) * (first.ndim - 1)] if first.size else np.zeros(p.shape),
                    unbroadcast(p[:, None] * g[..., None, :], q.shape)]
        return [unbroadcast(np.matmul(q, g[..., None])[..., 0], p.shape),
                unbroadcast(p[:, None] * g[..., None, :], q.shape)]
    return [batch_sum(np.matmul(g, np.swapaxes(q, -1, -2)), p.shape),
            batch_sum(np.matmul(np.swapaxes(p, -1, -2), g), q.shape)]


def linear(t, a, x, w, b=None):
    y = t.one("matmul", {}, x, t.one("swap_axes", {"axis1": 0, "axis2": 1}, w))
    return y if b is None else t.one("bias", {}, y, b)


def bias_vjp(a, x, y, g):
    if planted("linear_bias_vjp") and g.ndim > 2:
        return [g, np.sum(g, -2)[(0,) * (g.ndim - 2)]]
    return [g, unbroadcast(g, x[1].shape)]


RULES = {
    "matmul": bilinear(product, matmul_vjp),
    "dot": bilinear(lambda x, y: np.sum(x * y, dtype=x.dtype), lambda a, x, y, g: [g * x[1], g * x[0]]),
    "outer": bilinear(lambda x, y: x[:, None] * y, lambda a, x, y, g: [np.matmul(g, x[1]), np.matmul(x[0], g)]),
    "linear": linear,
    "bias": Rule(lambda a, x, b: x + b,
                 lambda a, x, y, dx: dx[0] if dx[1] is None else (0 if dx[0] is None else dx[0]) + np.zeros(y.shape) + dx[1],
                 bias_vjp),
}
