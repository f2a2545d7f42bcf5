"""Reductions of reductions become one; sums of what was repeated become products."""
from quarry import scalar as s
from quarry.contraction import reduce_all, reduce_any, reduce_sum
from quarry.ir import make, rewrite
from quarry.movement import expand, reshape
from quarry.switch import defect

NESTED = (reduce_sum, reduce_any, reduce_all)


def nested(node, x):
    """The outer axes are counted in what the inner reduction left."""
    inner, outer = x.params["axes"], node.params["axes"]
    left = [i for i in range(x.args[0].rank) if i not in inner]
    if defect("nested_axes_not_recounted"):
        left = list(range(x.args[0].rank))
        return make(node.prim, x.args, axes=tuple(sorted(set(inner + tuple(left[i] for i in outer)))))
    return make(node.prim, x.args, axes=tuple(sorted(inner + tuple(left[i] for i in outer))))


def repeated(node, x):
    """A sum over axes along which every element is the same."""
    source, axes = x.args[0], node.params["axes"]
    if any(source.shape[i] != 1 or x.shape[i] == 0 for i in axes) or any(
            source.shape[i] != x.shape[i] for i in range(x.rank) if i not in axes):
        return None
    count = 1
    for i in axes:
        count = x.shape[i] if defect("repeated_sum_last_count") else count * x.shape[i]
    rest = make(reshape, (source,), shape=node.shape)
    return make(s.mul, (rest, s.like(rest, count)))


def rule(node, args):
    if node.prim in NESTED and args[0].prim is node.prim:
        return nested(node, args[0])
    if node.prim is reduce_sum and args[0].prim is expand:
        return repeated(node, args[0])
    return None


def reduced(outputs):
    return rewrite(outputs, rule)
