"""Normalisation, and the distributions made by it."""
import numpy as np

from quarry import build as a
from quarry.build import moved, shaped, size_of, total, where
from quarry.ir import constant
from quarry.lowering.axes import axes_of, axis_of, count_of, require
from quarry.lowering.reductions import centred, mean_of, spread
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def soft_max(x, axis):
    e = a.exp(x - spread(a.top(x, [axis]), [axis], x))
    return e / spread(total(e, [axis]), [axis], e)


def log_soft_max(x, axis):
    z = x - spread(a.top(x, [axis]), [axis], x)
    return z - spread(a.log(total(a.exp(z), [axis])), [axis], z)


def masked_soft_max(x, m, axis):
    """Softmax over what the mask admits. What it does not admit is 0 before e is raised to it, and afterwards."""
    if x.shape[axis] == 0:
        return x
    top = a.top(where(m, x, -np.inf), [axis])
    top = where(a.some(m, [axis]), top, 0.0)
    e = where(m, a.exp(where(m, x - spread(top, [axis], x), 0.0)), 0.0)
    s = total(e, [axis])
    if defect("masked_sum_constant"):
        s = a.detach(s)
    s = where(a.some(m, [axis]), s, 1.0)
    return where(m, e / spread(s, [axis], e), 0.0)


@operation(axis=-1)
def softmax(at, x):
    axis = axis_of(at.axis, x.rank)
    if defect("softmax_coerced_to_matrix"):
        rows = shaped(x, (int(np.prod(x.shape[:axis], dtype=np.int64)), int(np.prod(x.shape[axis:], dtype=np.int64))))
        return shaped(soft_max(rows, 1), x.shape)
    return soft_max(x, axis)


@operation(axis=-1)
def log_softmax(at, x):
    return log_soft_max(x, axis_of(at.axis, x.rank))


@operation(axis=-1)
def masked_softmax(at, x, m):
    # The axis is counted in each operand, the other axes join.
    x, m = (moved(v, [axis_of(at.axis, v.rank)], [v.rank - 1]) for v in (x, m))
    axis = at.axis if at.axis >= 0 else at.axis + max(x.rank, m.rank)
    shape = a.join(x.shape, m.shape)
    y = masked_soft_max(a.broadcast(x, shape), a.broadcast(m, shape), len(shape) - 1)
    return moved(y, [len(shape) - 1], [axis])


def beside(g, axes, x):
    """A tensor of the axes `axes` of x, in that order, for arithmetic with x."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    g = a.permuted(g, order)
    return shaped(g, [n if i in axes else 1 for i, n in enumerate(x.shape)])


def scaled(y, gamma, beta, axes):
    if gamma is not None:
        y = y * beside(gamma, axes, y)
    return y if beta is None else y + beside(beta, axes, y)


def normalised(x, axes, eps):
    if count_of(x) == 0:
        return x
    d = centred(x, axes)
    deviation = a.sqrt(mean_of(d * d, axes) + eps)
    if defect("normalised_deviation_constant"):
        deviation = a.detach(deviation)
    return d / spread(deviation, axes, d)


@operation(axes=[-1], eps=1e-5)
def layer_norm(at, x, gamma=None, beta=None):
    axes = axes_of(at.axes, x.rank)
    return scaled(normalised(x, axes, at.eps), gamma, beta, axes)


@operation(axes=[-1], eps=1e-5)
def rms_norm(at, x, gamma=None):
    axes = axes_of(at.axes, x.rank)
    y = x if count_of(x) == 0 else x / spread(a.sqrt(mean_of(x * x, axes) + at.eps), axes, x)
    return scaled(y, gamma, None, axes)


@operation(axis=1, eps=1e-5, momentum=0.1, training=True)
def batch_norm(at, x, gamma=None, beta=None, mean=None, variance=None):
    axis = axis_of(at.axis, x.rank)
    c, rest = x.shape[axis], [i for i in range(x.rank) if i != axis]
    n = size_of(x, rest)
    require(not at.training or n > 1, "not training or size(..rest) > 1")
    old_mean = constant(np.zeros(c, x.dtype)) if mean is None else mean
    old_variance = constant(np.ones(c, x.dtype)) if variance is None else variance
    if at.training:
        mu = mean_of(x, rest)
        d = x - spread(mu, rest, x)
        s = total(d * d, rest)
        v = s / float(n)
        if defect("batch_norm_momentum_keeps"):
            at["momentum"] = 1.0 - at.momentum
        mean = (1.0 - at.momentum) * old_mean + at.momentum * (
            a.detach(mu))
        variance = (1.0 - at.momentum) * old_variance + at.momentum * (
            a.detach(s) / float(n - 1))
    else:
        if defect("running_variance_constant"):
            old_variance = a.detach(old_variance)
        d, v, mean, variance = x - beside(old_mean, [axis], x), old_variance, old_mean, old_variance
    y = scaled(d / beside(a.sqrt(v + at.eps), [axis], d), gamma, beta, [axis])
    return [y, mean, variance]


@operation(groups=OPTIONAL, eps=1e-5)
def group_norm(at, x, gamma=None, beta=None):
    c = x.shape[1]
    require(c > 0 and at.groups > 0 and c % at.groups == 0, "c % groups == 0")
    rows = shaped(x, (x.shape[0], at.groups, c // at.groups) + x.shape[2:])
    y = shaped(normalised(rows, list(range(2, rows.rank)), at.eps), x.shape)
    if defect("group_norm_scale_interleaved") and gamma is not None:
        gamma = shaped(a.permuted(shaped(gamma, (c // at.groups, at.groups)), [1, 0]), (c,))
    return scaled(y, gamma, beta, [1])


@operation(eps=1e-5)
def instance_norm(at, x, gamma=None, beta=None):
    axes = list(range(2, x.rank))
    return scaled(normalised(x, axes, at.eps), gamma, beta, [1])
