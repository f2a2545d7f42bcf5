"""How the library says what ONNX's operators mean: one row per operator, a function of a translation of its node."""
from table import Table

ROWS = Table()
row = ROWS.row

DTYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64"}


class Excluded(Exception):
    """Why a model has no counterpart."""


def refuse(condition, reason):
    if condition:
        raise Excluded(reason)


def dtype_of(array):
    """The library's element type of an array."""
    refuse(array.dtype.name not in DTYPES, f"{array.dtype.name} is no element type of the library")
    return DTYPES[array.dtype.name]


def reshape(n, value, shape):
    call = n.call("reshape", value, shape=None)
    n.calls[-1]["attributes"]["shape"] = [int(m) for m in shape]
    call.shape = tuple(int(m) for m in shape)
    return call
