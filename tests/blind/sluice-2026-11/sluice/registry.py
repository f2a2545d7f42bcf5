"""The dispatcher's tables: which kernel serves an operation, and of which type its results are."""
import numpy as np

WIDE = {"f32": np.float64, "f64": np.longdouble, "i32": np.int64, "i64": np.int64, "bool": np.bool_}
STORED = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}
NAMES = {np.dtype(t): n for n, t in STORED.items()}
REAL = ("f32", "f64")


class Unsupported(Exception):
    """What is not offered, and why."""


class Entry:
    """A kernel: `fn(c, *operands)` with attributes c; `result` is T, bool, int or dtype; T is the type of operand t."""

    def __init__(self, fn, result="T", t=0, views=None):
        self.fn, self.result, self.t, self.views = fn, result, t, views


TABLE = {}


def register(*names, result="T", t=0):
    def keep(fn):
        for name in names:
            TABLE[name] = Entry(fn, result, t)
        return fn
    return keep


def register_view(name):
    """An operation that answers with views of its operand: `fn(c, view)`."""
    def keep(fn):
        TABLE[name] = Entry(None, "T", 0, fn)
        return fn
    return keep


class Attributes(dict):
    """Attributes as the kernels read them: c.name, numbers as numbers; c.w is the wide type of the results."""
    w = np.float64

    def __getattr__(self, name):
        return self[name]


def plain(value):
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        raise Unsupported("attribute", "attributes of the program are not offered")
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    return value


def attributes(given):
    return Attributes({k: plain(v) for k, v in given.items()})
