"""Buffers, and strided views of them; strides and offsets count elements."""
import math

import numpy as np

from .switch import planted


class Buffer:
    """Flat storage; `refs` counts the live values that look at it."""

    def __init__(self, data, owned):
        self.data, self.owned, self.refs = data, owned, 0


def dense_strides(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


class View:
    def __init__(self, buffer, shape, strides, offset):
        self.buffer, self.shape, self.strides, self.offset = buffer, tuple(shape), tuple(strides), offset

    @staticmethod
    def dense(buffer, shape, offset=0):
        return View(buffer, shape, dense_strides(shape), offset)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def is_dense(self):
        if planted("dense_by_last_stride"):
            return not self.shape or self.strides[-1] == 1 and self.strides[0] == dense_strides(self.shape)[0]
        return all(n == 1 or s == d for n, s, d in zip(self.shape, self.strides, dense_strides(self.shape)))

    def array(self):
        data = self.buffer.data
        if self.size == 0:
            return np.empty(self.shape, data.dtype)
        step = data.itemsize
        return np.lib.stride_tricks.as_strided(data[self.offset:], self.shape, [s * step for s in self.strides])

    def transposed(self, permutation):
        strides = [self.strides[p] for p in permutation]
        return View(self.buffer, [self.shape[p] for p in permutation], strides, self.offset)

    def sliced(self, start, step, count):
        offset = self.offset + sum(s * b for s, b, n in zip(self.strides, start, count))
        return View(self.buffer, count, [s * t for s, t in zip(self.strides, step)], offset)

    def flipped(self, axes):
        strides, offset = list(self.strides), self.offset
        for k in axes:
            offset += strides[k] * (self.shape[k] - 1)
            strides[k] = -strides[k]
        return View(self.buffer, self.shape, strides, offset)

    def broadcast(self, shape):
        more = len(shape) - len(self.shape)
        strides = [0] * more
        for n, want, s in zip(self.shape, shape[more:], self.strides):
            strides.append(s if n == want else 0)
        return View(self.buffer, shape, strides, self.offset)

    def dropped(self, axis, index):
        offset = self.offset + self.strides[axis] * index
        keep = [k for k in range(len(self.shape)) if k != axis]
        return View(self.buffer, [self.shape[k] for k in keep], [self.strides[k] for k in keep], offset)

    def reshaped(self, shape):
        """The same elements under another shape, or None where a copy is due."""
        if self.size == 0:
            return View.dense(self.buffer, shape, self.offset)
        if self.is_dense:
            return View.dense(self.buffer, shape, self.offset)
        old = [(n, s) for n, s in zip(self.shape, self.strides) if n != 1]
        strides, i = [], 0
        # Runs of old axes that step as one are matched with runs of new ones.
        new = [n for n in shape if n != 1]
        j = 0
        while i < len(old) and j < len(new):
            have, want, i2, j2 = old[i][0], new[j], i + 1, j + 1
            while have != want:
                if have < want:
                    have *= old[i2][0]
                    i2 += 1
                else:
                    want *= new[j2]
                    j2 += 1
            for k in range(i, i2 - 1):
                joined = old[k][1] == old[k + 1][0] * old[k + 1][1]
                if planted("reshape_joins_by_magnitude"):
                    joined = abs(old[k][1]) == abs(old[k + 1][0] * old[k + 1][1])
                if not joined:
                    return None
            step = old[i2 - 1][1]
            run = []
            for n in reversed(new[j:j2]):
                run.append(step)
                step *= n
            strides += reversed(run)
            i, j = i2, j2
        found, rest = [], iter(strides)
        for n in shape:
            found.append(0 if n == 1 else next(rest))
        return View(self.buffer, shape, found, self.offset)
