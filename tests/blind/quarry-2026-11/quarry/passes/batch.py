"""Contractions of one shape that share an operand are done as one, with the others stacked along a new axis."""
from quarry.contraction import einsum
from quarry.ir import make, reachable
from quarry.movement import concat, reshape, slice_
from quarry.switch import defect

MEMBERS = 8
LETTER = "Z"


def levels(order):
    """The longest path to each node: nodes of one level do not need each other."""
    found = {}
    for node in order:
        found[node.number] = 1 + max((found[a.number] for a in node.args), default=0)
    return found


def groups(outputs):
    order = reachable(outputs)
    level, by_key = levels(order), {}
    for node in order:
        if node.prim is einsum and node.size:
            a, b = node.args
            spec = node.params["spec"]
            left = a.shape if defect("batch_key_by_shape") else a.number
            by_key.setdefault((level[node.number], spec, left, b.shape, node.dtype.str), []).append(node)
    return [g[:MEMBERS] for g in by_key.values() if len({n.args[1].number for n in g[:MEMBERS]}) > 1]


def stacked(nodes):
    return make(concat, [make(reshape, (n,), shape=(1,) + n.shape) for n in nodes], axis=0)


def member(whole, i):
    shape = whole.shape[1:]
    row = make(slice_, (whole,), start=(i,) + (0,) * len(shape), step=(1,) * (1 + len(shape)), shape=(1,) + shape)
    return make(reshape, (row,), shape=shape)


def batched(outputs):
    """Rewrites group by group: the stacked contraction is made when its first member is met."""
    at = {}
    for g in groups(outputs):
        for i, node in enumerate(g):
            at[node.number] = (g, i)
    if not at:
        return outputs
    new, whole = {}, {}

    def ready(node):
        """The new node for one of the old graph; all operands of a group come before its level."""
        if node.number not in new:
            args = tuple(ready(a) for a in node.args)
            if node.number in at:
                g, i = at[node.number]
                first = g[0].number
                if first not in whole:
                    left, right, out = node.params["spec"]
                    others = stacked([ready(n.args[1]) for n in g])
                    whole[first] = make(einsum, (args[0], others), spec=(left, LETTER + right, LETTER + out))
                new[node.number] = member(whole[first], i)
            elif all(a is b for a, b in zip(args, node.args)):
                new[node.number] = node
            else:
                new[node.number] = make(node.prim, args, **node.params)
        return new[node.number]

    for node in reachable(outputs):
        ready(node)
    return [None if o is None else new[o.number] for o in outputs]
