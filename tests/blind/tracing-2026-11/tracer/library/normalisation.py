"""Normalisation, and the distributions made by it."""
import numpy as np

from tracer import array as a
from tracer.array import moved, shaped, size_of, total, where
from tracer.faults import fault
from tracer.graph import constant
from tracer.library.axes import axes_of, axis_of, count_of, require
from tracer.library.reductions import centred, mean_of, spread
from tracer.registry import OPTIONAL, operation


def soft_max(x, axis):
    e = a.exp(x if fault("softmax_without_shift") else x - spread(a.top(x, [axis]), [axis], x))
    return e / spread(total(e, [axis]), [axis], e)


def log_soft_max(x, axis):
    if fault("log_softmax_of_softmax"):
        return a.log(soft_max(x, axis))
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
    if fault("masked_row_divides_by_zero"):
        return e / spread(s, [axis], e)
    s = where(a.some(m, [axis]), s, 1.0)
    return where(m, e / spread(s, [axis], e), 0.0)


@operation(axis=-1)
def softmax(at, x):
    return soft_max(x, axis_of(at.axis, x.rank))


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
    g = g if fault("scale_axes_not_sorted") and len(set(g.shape)) < 2 else a.permuted(g, order)
    return shaped(g, [n if i in axes else 1 for i, n in enumerate(x.shape)])


def scaled(y, gamma, beta, axes):
    if gamma is not None:
        y = y * beside(gamma, axes, y)
    return y if beta is None else y + beside(beta, axes, y)


def normalised(x, axes, eps):
    if count_of(x) == 0:
        return x
    d = centred(x, axes)
    if fault("normalised_eps_outside_root"):
        return d / spread(a.sqrt(mean_of(d * d, axes)) + eps, axes, d)
    return d / spread(a.sqrt(mean_of(d * d, axes) + eps), axes, d)


@operation(axes=[-1], eps=1e-5)
def layer_norm(at, x, gamma=None, beta=None):
    axes = axes_of(at.axes, x.rank)
    return scaled(normalised(x, axes, at.eps), gamma, beta, axes)


@operation(axes=[-1], eps=1e-5)
def rms_norm(at, x, gamma=None):
    axes = axes_of(at.axes, x.rank)
    divided = centred(x, axes) if fault("rms_norm_centred") else x
    y = x if count_of(x) == 0 else divided / spread(a.sqrt(mean_of(x * x, axes) + at.eps), axes, x)
    return scaled(y, gamma, None, axes)


@operation(axis=1, eps=1e-5, momentum=0.1, training=True)
def batch_norm(at, x, gamma=None, beta=None, mean=None, variance=None):
    axis = axis_of(at.axis, x.rank)
    c, rest = x.shape[axis], [i for i in range(x.rank) if i != axis]
    n = size_of(x, rest)
    require(not at.training or n > 1, "not training or size(..rest) > 1")
    old_mean = constant(np.zeros(c, x.dtype)) if mean is None else mean
    first = 0 if fault("batch_norm_absent_variance_zero") else 1
    old_variance = constant(np.full(c, first, x.dtype)) if variance is None else variance
    if at.training:
        mu = mean_of(x, rest)
        d = x - spread(mu, rest, x)
        s = total(d * d, rest)
        v = s / float(n)
        mean = (1.0 - at.momentum) * old_mean + at.momentum * (
            mu if fault("batch_norm_running_moves") else a.detach(mu))
        variance = (1.0 - at.momentum) * old_variance + at.momentum * (
            a.detach(s) / float(n if fault("batch_norm_running_biased") else n - 1))
    else:
        d, v, mean, variance = x - beside(old_mean, [axis], x), old_variance, old_mean, old_variance
    y = scaled(d / beside(a.sqrt(v + at.eps), [axis], d), gamma, beta, [axis])
    return [y, mean, variance]


@operation(groups=OPTIONAL, eps=1e-5)
def group_norm(at, x, gamma=None, beta=None):
    c = x.shape[1]
    require(c > 0 and at.groups > 0 and c % at.groups == 0, "c % groups == 0")
    rows = shaped(x, (x.shape[0], at.groups, c // at.groups) + x.shape[2:])
    if fault("group_norm_groups_interleaved"):
        rows = a.permuted(shaped(x, (x.shape[0], c // at.groups, at.groups) + x.shape[2:]),
                          [0, 2, 1, *range(3, rows.rank)])
        y = normalised(rows, list(range(2, rows.rank)), at.eps)
        return scaled(shaped(a.permuted(y, [0, 2, 1, *range(3, rows.rank)]), x.shape), gamma, beta, [1])
    y = shaped(normalised(rows, list(range(2, rows.rank)), at.eps), x.shape)
    return scaled(y, gamma, beta, [1])


@operation(eps=1e-5)
def instance_norm(at, x, gamma=None, beta=None):
    axes = list(range(1 if fault("instance_norm_over_channels") else 2, x.rank))
    return scaled(normalised(x, axes, at.eps), gamma, beta, [1])
