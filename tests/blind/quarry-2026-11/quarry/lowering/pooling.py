"""Pooling over windows and over whole images, and its opposite."""
import numpy as np

from quarry import build as a
from quarry.build import gathered, padded, shaped, total, where, windowed
from quarry.ir import constant
from quarry.lowering.axes import per_axis, require
from quarry.lowering.convolution import spatial
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def ranks(name):
    return [name] + [f"{name}{d}d" for d in (1, 2, 3)]


class Windows:
    """The windows of a pooled operand, each as the last axis, and which of their places lie inside of it."""

    def __init__(self, at, x, outside, dilation=None):
        rank = x.rank - 2
        stride = at.kernel if at.stride == "kernel" else at.stride
        at = {"kernel": at.kernel, "stride": stride, "padding": at.padding, "dilation": dilation or 1}
        kernel, stride, padding, dilation = spatial(at, rank, "kernel", "stride", "padding", "dilation")
        if defect("pool_stride_of_first_axis"):
            stride = stride[:1] * rank
        require(all(n > 0 for n in x.shape[2:]), "..s > 0")
        require(all(2 * p <= k for p, k in zip(padding, kernel)), "..(2*padding) <= ..kernel")
        self.places = int(np.prod(kernel))
        cells = windowed(padded(x, [0, 0] + padding, [0, 0] + padding, outside), 2, kernel, stride, dilation)
        self.positions = cells.shape[2:2 + rank]
        self.cells = shaped(cells, cells.shape[:2 + rank] + (self.places,))
        inside = np.ones(self.positions + tuple(kernel), bool)
        for axis, (n, k, t, p, d) in enumerate(zip(x.shape[2:], kernel, stride, padding, dilation)):
            at_axis = np.add.outer(np.arange(self.positions[axis]) * t, np.arange(k) * d) - p
            shape = [1] * (2 * rank)
            shape[axis], shape[rank + axis] = at_axis.shape
            inside &= ((at_axis >= 0) & (at_axis < n)).reshape(shape)
        self.inside = inside.reshape(self.positions + (self.places,))
        self.axis = self.cells.rank - 1


@operation(*ranks("max_pool"), kernel=OPTIONAL, stride="kernel", padding=0, dilation=1)
def max_pool(at, x):
    w = Windows(at, x, -np.inf, at.dilation)
    found = a.position(w.cells, [w.axis], True)
    # Where all of x in the window is -inf the first place inside has the derivative, not the padding.
    first = a.broadcast(constant(np.argmax(w.inside, -1)), found.shape)
    admitted = a.broadcast(constant(w.inside), w.cells.shape)
    at_found = shaped(a.gathered_along(admitted, shaped(found, found.shape + (1,)), w.axis), found.shape)
    found = where(at_found, found, first)
    return shaped(a.gathered_along(w.cells, shaped(found, found.shape + (1,)), w.axis), found.shape)


@operation(*ranks("avg_pool"), kernel=OPTIONAL, stride="kernel", padding=0, count_include_pad=True)
def avg_pool(at, x):
    w = Windows(at, x, 0)
    cells = float(w.places) if at.count_include_pad else constant(w.inside.sum(-1).astype(x.dtype))
    return total(w.cells, [w.axis]) / cells


@operation(*ranks("smooth_max_pool"), kernel=OPTIONAL, stride="kernel", padding=0, temperature=1.0)
def smooth_max_pool(at, x):
    w = Windows(at, x, -np.inf)
    top = a.top(w.cells, [w.axis])
    shift = where(a.isinf(top), 0.0, top)
    z = (w.cells - a.broadcast(shaped(shift, shift.shape + (1,)), w.cells.shape)) / at.temperature
    return shift + at.temperature * a.log(total(a.exp(z), [w.axis]))


@operation(*ranks("adaptive_avg_pool"), output=OPTIONAL)
def adaptive_avg_pool(at, x):
    output = per_axis(at.output, x.rank - 2)
    require(all(n > 0 for n in list(x.shape[2:]) + output), "..s > 0")
    cells = np.ones((), np.int64)
    for axis, (n, m) in enumerate(zip(x.shape[2:], output), 2):
        i = np.arange(m)
        start, stop = i * n // m, ((i + 1) * n + (m - 1)) // m
        stop = np.maximum(stop, start + 1)
        places = start[:, None] + np.arange(int((stop - start).max()))
        places = np.where(places < stop[:, None], places, -1)  # outside, which reads 0
        x = total(gathered(x, constant(places.astype(np.int64)), axis), [axis + 1])
        cells = np.multiply.outer(cells, stop - start)
    return x / constant(cells.astype(x.dtype))


@operation(*ranks("global_avg_pool"), keepdims=True)
def global_avg_pool(at, x):
    axes = list(range(2, x.rank))
    require(all(n > 0 for n in x.shape[2:]), "..s > 0")
    count = x.shape[2] ** len(axes) if defect("global_pool_counts_first_axis") else a.size_of(x, axes)
    found = total(x, axes) / float(count)
    return a.kept(found, axes, x.rank) if at.keepdims else found


@operation(*ranks("upsample_nearest"), scale=OPTIONAL)
def upsample_nearest(at, x):
    scale = per_axis(at.scale, x.rank - 2)
    require(all(k > 0 for k in scale), "..scale > 0")
    if defect("upsample_scale_from_last_axis"):
        scale = scale[::-1]
    head, body = x.shape[:2], x.shape[2:]
    rows = shaped(x, head + tuple(v for n in body for v in (n, 1)))
    rows = a.broadcast(rows, head + tuple(v for n, k in zip(body, scale) for v in (n, k)))
    return shaped(rows, head + tuple(n * k for n, k in zip(body, scale)))
