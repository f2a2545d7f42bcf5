"""Axes and lists of axes as attributes name them, and requirements."""
import numpy as np

from quarry.build import total
from quarry.words import Rejected


def require(condition, text):
    if not condition:
        raise Rejected(f"requires {text}")


def axis_of(axis, rank):
    if not -rank <= axis < rank:
        raise Rejected(f"axis {axis} of {rank} axes")
    return axis % rank


def axes_of(axes, rank, otherwise="all"):
    """A list of axes, counted from the start; `all` and `reversed` are words for lists."""
    if axes in ("all", "reversed"):
        return list(range(rank)) if axes == "all" else list(range(rank))[::-1]
    found = [axis_of(a, rank) for a in ([axes] if isinstance(axes, int) else axes)]
    require(len(set(found)) == len(found), "axes that differ")
    return found


def per_axis(value, count):
    return [value] * count if not isinstance(value, list) else value


def count_of(x):
    return int(np.prod(x.shape, dtype=np.int64))


def loss(each, reduction):
    """A loss of elements, reduced as an attribute says."""
    if reduction == "none":
        return each
    whole = total(each, range(each.rank))
    return whole if reduction == "sum" else whole / float(count_of(each))
