"""Chains of element by element operations become one kernel, which works through its operands in tiles."""
import numpy as np

from quarry.ir import Node, Primitive, consumers, reachable
from quarry.passes.identities import uniform
from quarry.switch import defect

TILE = 64
LONGEST = 40


class Kernel:
    """Straight-line code over registers. A register is used again after the last instruction that reads it."""

    def __init__(self, instructions, inputs, result):
        # instructions: (prim, params, dtype, operands), an operand ("in", i), ("at", k) or ("number", value)
        self.code, self.inputs = [], inputs
        last = {}
        for k, (_, _, _, operands) in enumerate(instructions):
            for kind, ref in operands:
                if kind == "at":
                    last[ref] = k
        if defect("kernel_mask_not_read"):  # what is read only as a condition dies where it is made
            last = {}
            for k, (prim, _, _, operands) in enumerate(instructions):
                last[k] = k
                for kind, ref in operands[1:] if prim.name == "select" else operands:
                    if kind == "at":
                        last[ref] = k
        last[result] = len(instructions)
        free, place, self.registers = [], {}, 0
        for k, (prim, params, dtype, operands) in enumerate(instructions):
            reads = [("at", place[ref]) if kind == "at" else (kind, ref) for kind, ref in operands]
            for ref in {ref for kind, ref in operands if kind == "at"}:
                if last[ref] == k:
                    free.append(place[ref])
            if free:
                place[k] = free.pop()
            else:
                place[k] = self.registers
                self.registers += 1
            self.code.append((prim, params, dtype, reads, place[k]))
            if last.get(k) == k:
                free.append(place[k])
        self.result = place[result]

    def tile(self, operands, low, high):
        registers = [None] * self.registers
        for prim, params, dtype, reads, into in self.code:
            values = [operands[ref][low:high] if kind == "in" else registers[ref] if kind == "at" else ref
                      for kind, ref in reads]
            registers[into] = np.asarray(prim.impl(*values, **params)).astype(dtype, copy=False)
        return registers[self.result]

    def __call__(self, arrays, dtype):
        size = arrays[0].size
        flat = [a.ravel("K" if defect("kernel_reads_in_memory_order") else "C") for a in arrays]
        found = np.zeros(size, dtype)
        tiles = -(-size // TILE)
        if defect("kernel_tail_dropped"):
            tiles = max(1, size // TILE)
        for low in range(0, tiles * TILE, TILE):
            high = min(low + TILE, size)
            found[low:high] = self.tile(flat, low, high)
        return found.reshape(arrays[0].shape)


def instructions_of(members, outside):
    """The code of a cluster; numbers that are the same everywhere are immediate operands."""
    place, code = {}, []
    for node in members:
        operands = []
        for a in node.args:
            if a.number in place:
                operands.append(("at", place[a.number]))
            elif a.number in outside:
                operands.append(("in", outside[a.number]))
            else:
                operands.append(("number", a.value.reshape(-1)[:1]))
        place[node.number] = len(code)
        code.append((node.prim, node.params, node.dtype, operands))
    return code


def clusters(outputs):
    """By the number of its last node, the members of each cluster, in order of evaluation."""
    order, readers = reachable(outputs), consumers(outputs)
    kept = {o.number for o in outputs}
    root, count = {}, {}
    for node in reversed(order):
        if node.prim is None or not node.prim.elementwise or node.size == 0:
            continue
        number = node.number
        roots = {root.get(r.number) for r in readers.get(number, [])}
        same_shape = all(r.shape == node.shape for r in readers.get(number, []))
        head = roots.pop() if len(roots) == 1 and same_shape and number not in kept else None
        if head is None or count[head] >= LONGEST:
            head = number
        root[number], count[head] = head, count.get(head, 0) + 1
    found = {}
    for node in order:
        if node.number in root:
            found.setdefault(root[node.number], []).append(node)
    return {head: members for head, members in found.items() if len(members) > 1}


def fused_primitive(kernel, dtype):
    p = Primitive("fused")
    p.impl = lambda *arrays: kernel(arrays, dtype)
    return p


def fused(outputs):
    found = clusters(outputs)
    inside = {n.number for members in found.values() for n in members[:-1]}
    new = {}
    for node in reachable(outputs):
        if node.number in inside:
            continue
        if node.number in found:
            members = found[node.number]
            own, outside, operands = {n.number for n in members}, {}, []
            for n in members:
                for a in n.args:
                    if a.number not in own and a.number not in outside and uniform(a) is None:
                        outside[a.number] = len(operands)
                        operands.append(new[a.number])
            if operands:
                kernel = Kernel(instructions_of(members, outside), len(operands), len(members) - 1)
                new[node.number] = Node(fused_primitive(kernel, node.dtype), operands, {}, node.shape, node.dtype)
                continue
            for n in members[:-1]:  # constants alone: nothing to loop over
                new[n.number] = n
        args = tuple(new[a.number] for a in node.args)
        same = all(a is b for a, b in zip(args, node.args))
        new[node.number] = node if same else Node(node.prim, args, node.params, node.shape, node.dtype)
    return [None if o is None else new[o.number] for o in outputs]
