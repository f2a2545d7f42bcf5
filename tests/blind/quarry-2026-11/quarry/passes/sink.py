"""Transposes sink towards the outputs: arithmetic is done in the layout that its operands are stored in, and reductions
and contractions take the permutation into their axes."""
from quarry.contraction import argmax, argmin, einsum, reduce_all, reduce_any, reduce_max, reduce_prod, reduce_sum
from quarry.ir import constant, make, rewrite
from quarry.movement import inverse, permute
from quarry.passes.identities import uniform
from quarry.switch import defect

ANY_ORDER = (reduce_sum, reduce_any, reduce_all)
ONE_AXIS = (reduce_prod, reduce_max, argmax, argmin)


def below(node, args):
    """An element by element operation of operands that are permuted alike."""
    orders = {a.params["order"] for a in args if a.prim is permute}
    if len(orders) != 1:
        return None
    order = orders.pop()
    if defect("sink_past_unpermuted"):
        alike = all(a.args[0].shape == node.shape for a in args if a.prim is permute)
        if alike:  # the shape is the same in both layouts
            inner = [a.args[0] if a.prim is permute else a for a in args]
            return make(permute, (make(node.prim, inner, **node.params),), order=order)
    if any(a.prim is not permute and uniform(a) is None for a in args):
        return None
    inner = [a.args[0] if a.prim is permute else constant(a.value.transpose(inverse(order))) for a in args]
    return make(permute, (make(node.prim, inner, **node.params),), order=order)


def reduced(node, x):
    order, axes = x.params["order"], node.params["axes"]
    there = [order.index(a) if defect("sink_reduction_axes_inverse") else order[a] for a in axes]
    rest = [order[i] for i in range(x.rank) if i not in axes]
    found = make(node.prim, x.args, axes=tuple(sorted(there)))
    if rest == sorted(rest):
        return found
    return make(permute, (found,), order=tuple(sorted(rest).index(i) for i in rest))


def relabelled(node, args):
    spec, inner = list(node.params["spec"]), []
    for i, a in enumerate(args):
        if a.prim is permute:
            letters = [""] * a.rank
            for j, axis in enumerate(a.params["order"]):
                letters[axis] = spec[i][j]
            spec[i] = "".join(letters)
            a = a.args[0]
        inner.append(a)
    return make(einsum, inner, spec=tuple(spec))


def rule(node, args):
    if node.prim is None or not any(a.prim is permute for a in args):
        return None
    if node.prim.elementwise:
        return below(node, args)
    if node.prim in ANY_ORDER or node.prim in ONE_AXIS and len(node.params["axes"]) == 1:
        return reduced(node, args[0])
    return relabelled(node, args) if node.prim is einsum else None


def sunk(outputs):
    return rewrite(outputs, rule)
