"""Movement of what was moved: chains of permutations, reshapes, slices, pads and concatenations become one."""
from quarry.ir import make, rewrite
from quarry.movement import concat, expand, pad, permute, reshape, slice_
from quarry.switch import defect


def permuted(node, x):
    order = node.params["order"]
    if order == tuple(range(x.rank)):
        return x
    if x.prim is permute:
        inner = x.params["order"]
        return make(permute, x.args, order=tuple(inner[i] for i in order))
    return None


def keeps_order(x):
    """Whether a permutation moves axes of extent 1 only, so that no element changes its place."""
    left = [axis for axis in x.params["order"] if x.args[0].shape[axis] != 1]
    if defect("permute_of_square_is_reshape"):
        return [n for n in x.shape if n != 1] == [n for n in x.args[0].shape if n != 1]
    return left == sorted(left)


def reshaped(node, x):
    if node.shape == x.shape:
        return x
    if x.prim is reshape or x.prim is permute and keeps_order(x):
        return make(reshape, x.args, shape=node.shape)
    return None


def expanded(node, x):
    if node.shape == x.shape:
        return x
    return make(expand, x.args, shape=node.shape) if x.prim is expand else None


def part_of(node, x):
    """A slice of a concatenation that reads one of its parts only is a slice of that part."""
    axis, at = x.params["axis"], 0
    first, step, count = node.params["start"][axis], node.params["step"][axis], node.shape[axis]
    last = first + step * (count - 1)
    for part in x.args:
        if count and at <= min(first, last) and max(first, last) < at + part.shape[axis]:
            start = list(node.params["start"])
            start[axis] = first - at
            return make(slice_, (part,), start=tuple(start), step=node.params["step"], shape=node.shape)
        at += part.shape[0 if defect("concat_part_counts_first_axis") else axis]
    return None


def sliced(node, x):
    start, step = node.params["start"], node.params["step"]
    if node.shape == x.shape and not any(start) and all(k == 1 for k in step):
        return x
    if x.prim is slice_:
        first, stride = x.params["start"], x.params["step"]
        return make(slice_, x.args, start=tuple(a + k * b for a, k, b in zip(first, stride, start)),
                    step=tuple(k * m for k, m in zip(stride, step)), shape=node.shape)
    if x.prim is concat:
        return part_of(node, x)
    return None


def pads(node, x):
    if x.prim is not pad or repr(x.params["value"]) != repr(node.params["value"]) and not defect("pads_of_two_values"):
        return None
    widths = [x.params["low"], x.params["high"], node.params["low"], node.params["high"]]
    if any(n < 0 for listed in widths for n in listed):
        return None
    low, high = (tuple(a + b for a, b in zip(x.params[k], node.params[k])) for k in ("low", "high"))
    return make(pad, x.args, low=low, high=high, value=node.params["value"])


def joined(node, args):
    axis, parts = node.params["axis"], []
    for a in args:
        nested = a.prim is concat and a.params["axis"] == axis
        parts += a.args if nested else [a]
    return make(concat, parts, axis=axis) if len(parts) != len(args) else None


MERGES = {permute: permuted, reshape: reshaped, expand: expanded, slice_: sliced, pad: pads}


def rule(node, args):
    if node.prim is concat:
        return joined(node, args)
    return MERGES[node.prim](node, args[0]) if node.prim in MERGES else None


def merged(outputs):
    return rewrite(outputs, rule)
