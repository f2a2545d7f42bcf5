"""Strided views on flat buffers: what movement operations answer without copying."""
import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .switch import on


class View:
    """Shape, strides and offset, in elements, over a one-dimensional buffer that several views may share."""
    __slots__ = ("buf", "shape", "strides", "offset")

    def __init__(self, buf, shape, strides, offset=0):
        self.buf, self.shape, self.strides, self.offset = buf, tuple(shape), tuple(strides), offset

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def dtype(self):
        return self.buf.dtype

    def is_dense(self):
        """Row-major without gaps; axes of one element do not matter."""
        expected = 1
        for n, s in zip(reversed(self.shape), reversed(self.strides)):
            if n == 0:
                return True
            if n != 1:
                if s != expected:
                    return False
                expected *= n
        return True

    def array(self):
        """The elements as an ndarray that shares the buffer."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        if self.is_dense():
            start = 0 if on("dense_forgets_offset") and self.buf.size > self.size else self.offset
            return self.buf[start:start + self.size].reshape(self.shape)
        bytes_ = self.dtype.itemsize
        return as_strided(self.buf[self.offset:], self.shape, [s * bytes_ for s in self.strides])


def dense_strides(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]


def of(array):
    """A dense view on a copy of an array."""
    flat = np.array(array, order="C", copy=True).reshape(-1)
    return View(flat, np.shape(array), dense_strides(np.shape(array)))


def permute(v, order):
    return View(v.buf, [v.shape[i] for i in order], [v.strides[i] for i in order], v.offset)


def slice_(v, start, stop, step):
    shape, strides, offset = [], [], v.offset
    for s, a, b, d in zip(v.strides, start, stop, step):
        sign = 1 if d > 0 else -1
        n = max(0, ((b - a) * sign + abs(d) - 1) // abs(d))
        if n:
            offset += a * s
        shape.append(n)
        strides.append(s * d)
    return View(v.buf, shape, strides, offset)


def narrow(v, axis, start, n):
    shape = list(v.shape)
    shape[axis] = n
    return View(v.buf, shape, v.strides, v.offset + (start * v.strides[axis] if n else 0))


def select(v, axis, index):
    n = v.shape[axis]
    if index < 0:
        index = n + index
    shape = v.shape[:axis] + v.shape[axis + 1:]
    strides = v.strides[:axis] + v.strides[axis + 1:]
    return View(v.buf, shape, strides, v.offset + index * v.strides[axis])


def flip(v, axes):
    strides, offset = list(v.strides), v.offset
    for a in axes:
        if v.shape[a]:
            offset += (v.shape[a] - 1) * v.strides[a]
        strides[a] = -strides[a]
    return View(v.buf, v.shape, strides, offset)


def broadcast(v, shape):
    lead = len(shape) - v.ndim
    strides = [0] * lead
    for n, s, m in zip(v.shape, v.strides, shape[lead:]):
        strides.append(0 if n == 1 and m != 1 else s)
    return View(v.buf, shape, strides, v.offset)


def _merged_strides(v, shape):
    """Strides of the same elements under another shape, or None where only a copy can do."""
    runs = []
    for n, s in zip(v.shape, v.strides):
        if n == 1:
            continue
        if runs and runs[-1][1] == n * s:
            runs[-1] = [runs[-1][0] * n, s]
        elif runs and on("reshape_merges_flipped") and abs(runs[-1][1]) == n * abs(s):
            runs[-1] = [runs[-1][0] * n, s]
        else:
            runs.append([n, s])
    strides, left = [], list(reversed(runs))
    count, step = left.pop(0) if left else (1, 1)
    used = 1
    for n in reversed(shape):
        if n == 1:
            strides.append(step)
            continue
        if used == count and left:
            count, step = left.pop(0)
            used = 1
        if count % (used * n):
            return None
        strides.append(step * used)
        used *= n
    return strides[::-1]


def reshape(v, shape):
    if v.size == 0:
        return View(v.buf, shape, dense_strides(shape), v.offset)
    strides = _merged_strides(v, shape)
    if strides is None:
        return of(v.array().reshape(shape))
    return View(v.buf, shape, strides, v.offset)


def add_into(target, g):
    """Adds an array to a view in place. Elements that a view shows several times get the sum of theirs."""
    if target.size == 0:
        return
    for axis, (n, s) in enumerate(zip(target.shape, target.strides)):
        if n > 1 and s == 0 and not on("expanded_adds_once"):
            g = g.sum(axis=axis, keepdims=True)
            target = narrow(target, axis, 0, 1)
    out = target.array()
    out += g
