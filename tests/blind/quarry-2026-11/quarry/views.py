"""Views of flat buffers: shape, strides and offset in elements. Movement changes these three numbers only."""
import numpy as np
from numpy.lib.stride_tricks import as_strided



def dense_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(1, extent)
    return tuple(reversed(strides))


def resplit(shape, strides, wanted):
    """Strides under which the same elements have the shape `wanted`, or None where a copy is needed."""
    old = [(n, s) for n, s in zip(shape, strides) if n != 1]
    found, i, j = [], 0, 0
    while j < len(wanted):
        if i == len(old):
            found += [1] * (len(wanted) - j)
            break
        first_new, extent_old, extent_new = j, old[i][0], wanted[j]
        last = i
        while extent_old != extent_new:
            if extent_new < extent_old:
                j += 1
                extent_new *= wanted[j]
            else:
                last += 1
                extent_old *= old[last][0]
        parted = [old[k][1] != old[k + 1][1] * old[k + 1][0] for k in range(i, last)]
        if any(parted):
            return None
        step, group = old[last][1], []
        for extent in reversed(wanted[first_new:j + 1]):
            group.append(step)
            step *= extent
        found += reversed(group)
        i, j = last + 1, j + 1
    return tuple(found)


class View:
    __slots__ = ("base", "shape", "strides", "offset")

    def __init__(self, base, shape, strides=None, offset=0):
        self.base, self.shape, self.offset = base, tuple(shape), offset
        self.strides = dense_strides(self.shape) if strides is None else tuple(strides)

    @staticmethod
    def of(array):
        array = np.asarray(array)
        return View(np.ascontiguousarray(array).reshape(-1), array.shape)

    def array(self):
        """The elements as an array of NumPy, which nobody writes to."""
        if 0 in self.shape:
            return np.empty(self.shape, self.base.dtype)
        reach = [s * (n - 1) for s, n in zip(self.strides, self.shape)]
        first, last = (self.offset + sum(f(0, r) for r in reach) for f in (min, max))
        if first < 0 or last >= self.base.size:
            raise IndexError("a view leaves its buffer")
        size = self.base.dtype.itemsize
        return as_strided(self.base[self.offset:], self.shape, [s * size for s in self.strides])

    def permute(self, order):
        return View(self.base, [self.shape[i] for i in order], [self.strides[i] for i in order], self.offset)

    def expand(self, shape):
        strides = [0 if n != m else s for n, m, s in zip(self.shape, shape, self.strides)]
        return View(self.base, shape, strides, self.offset)

    def slice(self, start, step, shape):
        strides = self.strides
        offset = self.offset + sum(s * a for s, a in zip(strides, start))
        return View(self.base, shape, [s * k for s, k in zip(self.strides, step)], offset)

    def reshape(self, shape):
        if 0 in self.shape:
            return View(self.base, shape, None, self.offset)
        strides = resplit(self.shape, self.strides, shape)
        if strides is None:
            return View.of(self.array().reshape(shape))
        return View(self.base, shape, strides, self.offset)

    def windows(self, lead, kernel, stride, dilation, counts):
        """Overlapping windows over the axes after the first `lead`; the places in a window become the last axes."""
        head = self.strides[:lead]
        outer = [s * k for s, k in zip(self.strides[lead:], stride)]
        inner = [s * k for s, k in zip(self.strides[lead:], dilation)]
        return View(self.base, self.shape[:lead] + tuple(counts) + tuple(kernel), (*head, *outer, *inner), self.offset)
