"""Plans: an order of evaluation, and a buffer for each value. Buffers are used again once nobody reads them."""
import numpy as np

from quarry.ir import reachable
from quarry.movement import slice_
from quarry.switch import defect
from quarry.views import View


class Step:
    __slots__ = ("node", "buffer")

    def __init__(self, node, buffer):
        self.node, self.buffer = node, buffer


class Plan:
    """Values that arithmetic makes lie in buffers; movement makes views of them, which keep the buffer alive."""

    def __init__(self, outputs):
        self.outputs = outputs
        self.order = [n for n in reachable(outputs)]
        self.buffers = []  # (dtype, elements)
        self.roots = self.owners()
        self.last = self.last_reads()
        self.steps = self.assigned()

    def owners(self):
        """By number, the node whose buffer a node's elements lie in: itself, or what it is a view of."""
        roots = {}
        for node in self.order:
            moves = node.prim is not None and node.prim.moves
            root = roots[node.args[0].number] if moves else node.number
            if defect("view_of_view_not_held") and node.prim is slice_:
                root = node.args[0].number  # what a slice is cut from
            roots[node.number] = root
        return roots

    def last_reads(self):
        """By owner, the place of the last step that reads it; an output is read after the end."""
        last = {}
        for place, node in enumerate(self.order):
            for a in node.args:
                last[self.roots[a.number]] = place
        for o in self.outputs:
            if defect("output_read_again_not_held") and self.roots[o.number] in last:
                continue
            last[self.roots[o.number]] = len(self.order)
        return last

    def assigned(self):
        free, dying, steps, held = {}, {}, [], {}
        for owner, place in self.last.items():
            dying.setdefault(place, []).append(owner)
        for place, node in enumerate(self.order):
            buffer = None
            if node.prim is not None and not node.prim.moves:
                key = (node.dtype.str, node.size)
                if free.get(key):
                    buffer = free[key].pop()
                else:
                    buffer = len(self.buffers)
                    self.buffers.append((node.dtype, node.size))
                held[node.number] = (key, buffer)
            steps.append(Step(node, buffer))
            for owner in dying.get(place, []):
                if owner in held:
                    key, index = held[owner]
                    free.setdefault(key, []).append(index)
        return steps

    def run(self, given):
        buffers = [np.empty(n, dtype) for dtype, n in self.buffers]
        values = dict(given)
        with np.errstate(all="ignore"):
            for step in self.steps:
                node = step.node
                if node.prim is None:
                    if node.value is not None:
                        values[node.number] = View.of(node.value)
                elif node.prim.moves:
                    values[node.number] = node.prim.impl(*[values[a.number] for a in node.args], **node.params)
                else:
                    arrays = [values[a.number].array() for a in node.args]
                    found = np.asarray(node.prim.impl(*arrays, **node.params))
                    into = buffers[step.buffer]
                    into[:] = found.reshape(-1)
                    values[node.number] = View(into, node.shape)
        return [values[o.number].array() for o in self.outputs]
