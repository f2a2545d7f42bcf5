"""A softmax that overflows: nothing is subtracted from exponents."""
import numpy as np


def operation(x, axis):
    e = np.exp(x)
    return e / e.sum(axis, keepdims=True)
