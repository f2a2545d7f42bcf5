"""Products of matrices and vectors."""
import numpy as np

from .registry import register
from .switch import on
from .tape import fit, node


def _t(a):
    return np.swapaxes(a, -1, -2)


def product(a, b):
    """The product of stacks of matrices."""
    if a.shape[-1] == 0:
        shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1])
        return np.zeros(shape, a.dtype)
    return np.matmul(a, b)


def matmul(a, b):
    """The product of Vars of two axes at least; leading axes join."""
    return node(product(a.a, b.a),
                (a, lambda g: fit(product(g, _t(b.a)), a.shape),
                 lambda d: product(d, b.a)),
                (b, lambda g: fit(product(_t(a.a), g), b.shape),
                 lambda d: np.zeros_like(product(a.a, d)) if on("matmul_tangent_of_second") and a.dot is not None
                 else product(a.a, d)))


def with_axis(x, axis):
    return node(np.expand_dims(x.a, axis), (x, lambda g: np.squeeze(g, axis), lambda d: np.expand_dims(d, axis)))


def without_axis(x, axis):
    return node(np.squeeze(x.a, axis), (x, lambda g: np.expand_dims(g, axis), lambda d: np.squeeze(d, axis)))


@register("matmul")
def matmul_kernel(c, a, b):
    row, column = a.ndim == 1, b.ndim == 1
    p = with_axis(a, 0) if row else a
    q = with_axis(b, 1) if column else b
    y = matmul(p, q)
    if row:
        y = without_axis(y, -2)
    return without_axis(y, -1) if column else y


@register("dot")
def dot(c, a, b):
    return node(np.asarray(np.sum(a.a * b.a, dtype=a.a.dtype)), (a, lambda g: g * b.a, lambda d: np.sum(d * b.a)),
                (b, lambda g: g * a.a, lambda d: np.sum(a.a * d)))


@register("outer")
def outer(c, a, b):
    return with_axis(a, 1) * with_axis(b, 0)


def transposed(x):
    return node(_t(x.a), (x, lambda g: _t(np.asarray(g)), _t))


def affine(x, w, b=None):
    """x times the transpose of w, plus b; x may have any axes before its last."""
    lead = x.shape[:-1]
    rows = node(x.a.reshape((int(np.prod(lead)), x.shape[-1])),
                (x, lambda g: np.reshape(g, x.shape), lambda d: np.reshape(d, (-1, x.shape[-1]) if d.size else
                                                                         (int(np.prod(lead)), x.shape[-1]))))
    y = matmul(rows, transposed(w))
    shape = lead + (w.shape[0],)
    flat = y.shape
    y = node(y.a.reshape(shape), (y, lambda g: np.reshape(g, flat), lambda d: np.reshape(d, shape)))
    return y if b is None else y + b


register("linear")(lambda c, x, w, b=None: affine(x, w, b))
