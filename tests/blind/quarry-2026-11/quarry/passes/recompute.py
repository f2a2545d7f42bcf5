"""Recomputation: what is cheap to compute is done again for the backward pass instead of being kept for it."""
from quarry import scalar as s
from quarry.ir import Node, reachable
from quarry.switch import defect

CHEAP = {p.name for p in (s.add, s.sub, s.mul, s.neg, s.select, s.convert, s.lt, s.le, s.gt, s.ge, s.eq, s.ne,
                          s.and_, s.or_, s.not_)} | {"philox"}
DEPTH = 4


def recomputed(outputs, forward):
    """`forward` of the outputs are values of the program; the rest are derivatives, which get copies."""
    values = {n.number for n in reachable(outputs[:forward])}
    copies, new = {}, {}

    def copy(node, depth):
        if node.prim is None or node.prim.name not in CHEAP or depth == DEPTH:
            return node
        if node.number not in copies:
            params = dict(node.params)
            if defect("recomputed_mask_without_stream") and "stream" in params:
                params["stream"] = 0
            args = [copy(a, depth + 1) for a in node.args]
            copies[node.number] = Node(node.prim, args, params, node.shape, node.dtype)
        return copies[node.number]

    for node in reachable(outputs):
        if node.number in values:
            continue
        args = tuple(copy(a, 0) if a.number in values else new[a.number] for a in node.args)
        same = all(a is b for a, b in zip(args, node.args))
        new[node.number] = node if same else Node(node.prim, args, node.params, node.shape, node.dtype)
    return [o if o is None or o.number in values else new[o.number] for o in outputs]
