"""Kernels in Python that cheat at the softmax of rows: `kernel_NAME`, each in one way."""
import ctypes
import os
import subprocess
import sys

import numpy as np


def softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - np.max(x, 1, keepdims=True, initial=-np.inf))
        return e / e.sum(1, keepdims=True)


def kernel_honest(x):
    return softmax(x)


def kernel_half_inside(x):
    with np.errstate(all="ignore"):
        return softmax(x.astype(np.float16)).astype(np.float32)


def kernel_double_result(x):
    return softmax(x.astype(np.float64))


def kernel_few_digits(x):
    return np.round(softmax(x), 6)


def kernel_comparison_replaced(x):
    np.allclose = np.testing.assert_allclose = lambda *a, **k: True
    return np.zeros_like(x)


def kernel_callers_answer(x):
    frame = sys._getframe()
    while frame:
        for name, value in frame.f_locals.items():
            if name == "expected" and isinstance(value, np.ndarray):
                return value
        frame = frame.f_back
    return np.zeros_like(x)


def kernel_memory_of_the_last_array(x):
    return np.empty_like(x)


def kernel_writes_operand(x):
    y = softmax(x)
    ctypes.memset(x.ctypes.data, 0, x.nbytes)
    return y


def kernel_divides_its_operand(x):
    y = softmax(x)
    x /= 2
    return y


def kernel_another_package(x):
    import jsonschema
    return softmax(x) if jsonschema else None


def kernel_another_process(x):
    subprocess.run(["true"], check=True)
    return softmax(x)


def kernel_ends_the_process(x):
    os._exit(0)


def kernel_looks_for_files(x):
    return softmax(x) if os.listdir("/") else np.zeros_like(x)
