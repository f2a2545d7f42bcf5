"""A right softmax."""
import numpy as np


def operation(x, axis):
    if x.shape[axis] == 0:
        return x.copy()
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
