"""Primitives that reduce: sums, products, extrema, contractions of two operands, and scans along an axis."""
import numpy as np

from quarry.ir import Primitive, wide
from quarry.movement import expand, permute, reshape
from quarry.scalar import emit, like, linear, mul, two
from quarry.switch import defect


def reduced(shape, axes):
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def reduction(name, impl, dtype=None):
    p = Primitive(name)
    p.impl = impl
    p.shape = lambda x, axes: (reduced(x.shape, axes), dtype or x.dtype)
    return p


def sum_values(x, axes):
    if defect("sum_of_i32_saturates") and x.dtype == np.int32 and axes:
        return np.clip(np.sum(x, axes, np.int64), -2**31, 2**31 - 1).astype(np.int32)
    return np.sum(x, axes, wide(x.dtype)) if axes else x


def prod_values(x, axes):
    if defect("product_of_nothing_is_zero") and x.size == 0:
        return np.zeros(reduced(x.shape, axes), x.dtype)
    return np.prod(x, axes, x.dtype) if axes else x


# Of extrema the reduced axes are the last one: the operations bring them there.
reduce_sum = reduction("sum", sum_values)
reduce_prod = reduction("prod", prod_values)
reduce_max = reduction("max", lambda x, axes: np.max(x, axes))
reduce_any = reduction("any", lambda x, axes: np.any(x, axes) if axes else x, np.dtype(bool))
reduce_all = reduction("all", lambda x, axes: np.all(x, axes) if axes else x, np.dtype(bool))
argmax = reduction("argmax", lambda x, axes: np.argmax(x, axes[0]), np.dtype(np.int64))


def argmin_values(x, axes):
    return np.argmin(x, axes[0])


argmin = reduction("argmin", argmin_values, np.dtype(np.int64))


def unreduce(node, ct, axes):
    """The cotangent of a sum, repeated along the axes that were summed over."""
    shape = node.args[0].shape
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return emit(expand, emit(reshape, ct, shape=kept), shape=shape)


reduce_sum.jvp = linear
reduce_sum.transpose = lambda node, ct, _: (unreduce(node, ct, node.params["axes"]),)

# A contraction of two operands; every index of either stands in the result or in the other operand.
einsum = Primitive("einsum")


def einsum_values(a, b, spec):
    if defect("dot_tail_dropped") and spec[2] == "" and a.ndim == 1 and a.size >= 4:
        whole = a.size // 4 * 4  # four lanes at a time
        a, b = a[:whole], b[:whole]
    return np.einsum("{},{}->{}".format(*spec), a, b)


einsum.impl = einsum_values


def einsum_shape(a, b, spec):
    extents = dict(zip(spec[0], a.shape)) | dict(zip(spec[1], b.shape))
    return tuple(extents[k] for k in spec[2]), a.dtype


def jvp_einsum(node, t):
    (a, b), spec = node.args, node.params["spec"]
    if defect("contraction_with_itself_once") and a is b and t[0] is not None:
        return emit(einsum, t[0], b, spec=spec)
    return two(None if t[0] is None else emit(einsum, t[0], b, spec=spec),
               None if t[1] is None else emit(einsum, a, t[1], spec=spec))


def transpose_einsum(node, ct, on):
    (a, b), (left, right, out) = node.args, node.params["spec"]
    return (emit(einsum, ct, b, spec=(out, right, left)) if on[0] else None,
            emit(einsum, ct, a, spec=(out, left, right)) if on[1] else None)


einsum.shape, einsum.jvp, einsum.transpose = einsum_shape, jvp_einsum, transpose_einsum


# scan: y[j] = f[j]*y[j-1] + b[j] along the last axis, from the end where `reverse`; y before the first is `start`.

def scan_values(f, b, reverse, start):
    found = np.empty_like(b)
    n = b.shape[-1]
    carry = np.full(b.shape[:-1], start, b.dtype)
    for j in (range(n - 1, -1, -1) if reverse else range(n)):
        carry = f[..., j] * carry + b[..., j]
        found[..., j] = carry
    return found


def cumulate_values(b, reverse):
    """scan with factors of 1, which needs no multiplication."""
    if reverse:
        return np.cumsum(b[..., ::-1], -1, b.dtype)[..., ::-1] + b.dtype.type(0)
    return np.cumsum(b, -1, b.dtype) + b.dtype.type(0)


def scan_shape(*args, **_):
    return args[-1].shape, args[-1].dtype


scan = Primitive("scan")
scan.impl, scan.shape = scan_values, scan_shape
cumulate = Primitive("cumulate")
cumulate.impl, cumulate.shape, cumulate.jvp = cumulate_values, scan_shape, linear
cumulate.transpose = lambda node, ct, _: (
    emit(cumulate, ct, reverse=not node.params["reverse"]),)


def shifted(x, reverse, fill):
    """The element before each (after each, where reverse) along the last axis, `fill` at the first."""
    from quarry.movement import pad
    n = x.shape[-1]
    if n == 0:
        return x
    cut = (0,) * (x.rank - 1)
    low, high = (-1, 1) if reverse else (1, -1)
    return emit(pad, x, low=cut + (low,), high=cut + (high,), value=fill)


def jvp_scan(node, t):
    f, reverse = node.args[0], node.params["reverse"]
    start = node.params["start"]
    moved = None if t[0] is None else emit(mul, t[0], shifted(node, reverse, start))
    total = two(moved, t[1])
    return None if total is None else emit(scan, f, total, reverse=reverse, start=0)


def transpose_scan(node, ct, on):
    """Linear in b only: the cotangents run the other way, through the factor of the next step."""
    f, reverse = node.args[0], node.params["reverse"]
    factors = shifted(f, not reverse, 0)
    return None, emit(scan, factors, ct, reverse=not reverse, start=0)


scan.jvp, scan.transpose = jvp_scan, transpose_scan


# The product of a row is the last element of a scan; its derivative needs the products of all the others.

def jvp_prod(node, t):
    if t[0] is None:
        return None
    x, axes = node.args[0], node.params["axes"]
    order = tuple(i for i in range(x.rank) if i not in axes) + tuple(axes)
    rows, moved = [emit(permute, v, order=order) for v in (x, t[0])]
    shape = reduced(x.shape, axes) + (int(np.prod([x.shape[i] for i in axes], dtype=np.int64)),)
    rows, moved = [emit(reshape, v, shape=shape) for v in (rows, moved)]
    zeros = like(rows, -0.0)  # the neutral element of a sum, whose sign a product keeps
    before = shifted(emit(scan, rows, zeros, reverse=False, start=1), False, 1)
    after = shifted(emit(scan, rows, zeros, reverse=True, start=1), True, 1)
    return emit(reduce_sum, emit(mul, moved, emit(mul, before, after)), axes=(len(shape) - 1,))


reduce_prod.jvp = jvp_prod
