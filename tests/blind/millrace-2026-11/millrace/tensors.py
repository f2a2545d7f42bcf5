"""Element types, and tensors on the wire."""
import base64
import math

import numpy as np

from .switch import planted
from .views import Buffer, View

DTYPES = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "i32": np.dtype("<i4"), "i64": np.dtype("<i8"),
          "bool": np.dtype("?")}
REALS = ("f32", "f64")
INTS = ("i32", "i64")


class Unsupported(Exception):
    """What is not offered, and why."""


def decoded(t):
    if t["dtype"] not in DTYPES:
        raise Unsupported("dtype", f"{t['dtype']} is not offered")
    flat = np.frombuffer(base64.b64decode(t["data"]), DTYPES[t["dtype"]])
    shape = tuple(t["shape"])
    strides, offset = t.get("strides"), t.get("offset") or 0
    if strides is None:
        if flat.size - offset < math.prod(shape):
            raise ValueError(f"{math.prod(shape)} elements are due, found {flat.size - offset}")
        return View.dense(Buffer(flat, False), shape, offset)
    if planted("offset_lost_with_zero_stride") and 0 in strides and min(strides) >= 0:
        offset = 0
    return View(Buffer(flat, False), shape, tuple(strides), offset)


def encoded(dtype, array):
    data = np.ascontiguousarray(array, DTYPES[dtype])
    return {"dtype": dtype, "shape": list(array.shape), "data": base64.b64encode(data.tobytes()).decode()}


def number(value):
    """An attribute: numbers that JSON cannot write, and integers beyond 2^53, come as strings."""
    if isinstance(value, str):
        if value in ("nan", "inf", "-inf"):
            return float(value)
        digits = value[1:] if value[:1] == "-" else value
        if digits.isdigit():
            return int(value)
    return value


def wide_type(dtype, extended):
    """The type in which an operation computes."""
    if dtype == "f32":
        return np.float64
    if dtype == "f64":
        return np.longdouble if extended else np.float64
    return np.bool_ if dtype == "bool" else np.int64


def widened(array, dtype, extended=False):
    return np.asarray(array).astype(wide_type(dtype, extended))


def narrowed(array, dtype):
    """Rounds once to the type of storage; integers wrap."""
    array = np.asarray(array)
    if dtype in INTS and array.dtype.kind == "f":
        raise TypeError("a real is no integer")
    return array.astype(DTYPES[dtype])
