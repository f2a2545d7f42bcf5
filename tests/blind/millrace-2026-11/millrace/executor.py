"""Runs a graph: fuses elementwise chains into tiles, gives dead buffers to later results, writes in place where it may."""
import math

import numpy as np

from .switch import planted
from .tensors import DTYPES, narrowed, widened
from .views import Buffer, View

TILE = 16
LONG = 16384


class Pool:
    """Buffers whose last value has died, by type and length."""

    def __init__(self):
        self.free = {}

    def take(self, dtype, count):
        waiting = self.free.get((dtype, count))
        if waiting:
            return waiting.pop()
        return Buffer(np.empty(count, DTYPES[dtype]), True)

    def give(self, dtype, buffer):
        self.free.setdefault((dtype, buffer.data.size), []).append(buffer)


class Executor:
    def __init__(self, graph, mode):
        self.graph, self.mode, self.pool, self.plans = graph, mode, Pool(), {}
        for node in graph.nodes:
            args = node.inputs()
            if planted("uses_counted_once_per_call"):
                args = list({id(v): v for v in args}.values())
            for v in args:
                if v is not None:
                    v.uses += 1
        consumed = {id(v) for node in graph.nodes for v in node.inputs()}
        for v in graph.outputs:
            if not (planted("consumed_outputs_not_pinned") and id(v) in consumed and v.node is not None):
                v.keep = True
        if mode == "jvp":
            for node in graph.nodes:
                for v in node.outs:
                    v.keep = True
        if mode == "vjp":
            for node in graph.nodes:
                self.save(node)

    @staticmethod
    def save(node):
        if "x" in node.op.saves:
            for v in node.inputs():
                if v is not None:
                    v.keep = True
        if "y" in node.op.saves and not planted("saved_results_not_pinned"):
            for v in node.outs:
                v.keep = True

    def run(self):
        nodes, at = self.graph.nodes, 0
        while at < len(nodes):
            if nodes[at].op.kind == "map":
                group = self.group(nodes, at)
                self.run_fused(group)
                at += len(group)
            else:
                self.run_call(nodes[at])
                at += 1

    # Lifetimes.
    def bind(self, value, view):
        value.view = view
        view.buffer.refs += 1

    def consumed(self, value):
        value.uses -= 1
        if value.uses == 0 and not value.keep:
            self.drop(value)

    def drop(self, value):
        buffer = value.view.buffer
        buffer.refs -= 1
        held = buffer.refs > 0
        if not held and buffer.owned:
            self.pool.give(value.dtype, buffer)

    def store(self, value, array):
        array = np.asarray(array)
        buffer = self.pool.take(value.dtype, array.size)
        buffer.data[:] = narrowed(array, value.dtype).reshape(-1)
        self.bind(value, View.dense(buffer, array.shape))

    # One call.
    def context(self, node):
        c = node.context()
        c.views = [v.view if v is not None else None for v in node.args]
        extended = node.op.extended
        c.x = [widened(v.view.array(), v.dtype, extended) if v is not None else None for v in node.args]
        c.running = {k: widened(node.running[k].view.array(), node.running[k].dtype, extended)
                     for k in sorted(node.running)}
        return c

    def run_call(self, node):
        c = self.context(node)
        results = node.op.forward(c)
        for out, found in zip(node.outs, results):
            if isinstance(found, View):
                if planted("views_do_not_hold_their_base") and found.buffer.refs:
                    out.view = found
                    found.buffer.refs += 1 if out.keep else 0
                else:
                    self.bind(out, found)
            else:
                self.store(out, found)
        for v in node.inputs():
            if v is not None:
                self.consumed(v)
        for out in node.outs:
            if out.uses == 0 and not out.keep:
                self.drop(out)

    # Fused chains.
    def group(self, nodes, at):
        """The longest run of elementwise calls from `at` on, each reading the one before, of one shape."""
        first = nodes[at]
        shape = np.broadcast_shapes(*[v.shape for v in first.args])
        group, made = [first], {id(first.outs[0])}
        for node in nodes[at + 1:]:
            if node.op.kind != "map" or not any(id(v) in made for v in node.args):
                break
            outside = [v for v in node.args if id(v) not in made]
            if any(v.view is None for v in outside) or np.broadcast_shapes(shape, *[v.shape for v in outside]) != shape:
                break
            group.append(node)
            made.add(id(node.outs[0]))
        self.shape = shape
        return group

    def plan(self, group, outside):
        """Steps of a chain: operation, attributes, where operands come from, types. Kept for chains of one form."""
        slots = {id(v): k for k, v in enumerate(outside)}
        form, steps = [], []
        for node in group:
            args = [slots[id(v)] for v in node.args]
            slots[id(node.outs[0])] = len(slots)
            settings = "" if planted("plan_key_without_attributes") and len(group) > 1 else repr(sorted(node.a.items()))
            types = tuple(v.dtype for v in node.args)
            form.append((node.op.name, settings, tuple(args), types))
            steps.append((node.op, node.a, args, [v.dtype for v in node.args], node.outs[0].dtype))
        key = tuple(form)
        if key not in self.plans:
            self.plans[key] = steps
        return self.plans[key]

    def destination(self, value, outside, count):
        """A buffer for a result: that of an operand that dies here, where nothing else can see it, or a fresh one."""
        for v in outside:
            view = v.view
            dies = v.uses == count[id(v)] and not v.keep
            alone = view.buffer.owned and (view.buffer.refs == 1 or planted("in_place_beside_views"))
            dense = view.is_dense and view.offset == 0 or planted("in_place_into_strided")
            fits = v.shape == self.shape and v.dtype == value.dtype and view.buffer.data.size == view.size
            if dies and alone and dense and fits:
                count[id(v)] = -1
                return view.buffer
        return self.pool.take(value.dtype, math.prod(self.shape))

    def run_fused(self, group):
        made = {id(n.outs[0]) for n in group}
        outside, count = [], {}
        for node in group:
            for v in node.args:
                if id(v) in made:
                    v.uses -= 1
                    continue
                if id(v) not in count:
                    outside.append(v)
                count[id(v)] = count.get(id(v), 0) + 1
        steps, counted = self.plan(group, outside), dict(count)
        places = [self.destination(n.outs[0], outside, count) if self.seen(n.outs[0]) else None
                  for n in group]
        self.tiles(steps, outside, places)
        for v in outside:
            v.uses -= counted[id(v)]
            if v.uses == 0 and not v.keep:
                if count[id(v)] == -1:
                    v.view.buffer.refs -= 1
                else:
                    self.drop(v)
        for node, buffer in zip(group, places):
            if buffer is not None:
                self.bind(node.outs[0], View.dense(buffer, self.shape))
                if node.outs[0].uses == 0 and not node.outs[0].keep:
                    self.drop(node.outs[0])

    def seen(self, value):
        """Whether a result leaves its chain: it is read later, kept, or its shape is asked for by a derivative."""
        return value.uses > 0 or value.keep or self.mode != "forward"

    def flat(self, view):
        array = view.array()
        return np.broadcast_to(array, self.shape).flat

    def tiles(self, steps, outside, places):
        total = math.prod(self.shape)
        tile = TILE if total <= LONG else LONG // 4
        flats = [self.flat(v.view) for v in outside]
        for s in range(0, total, tile):
            e = min(total, s + tile)
            slots = [f[s:e] for f in flats]
            written = []
            for k, (op, a, args, types, out) in enumerate(steps):
                c = self.tile_context(op, a, types)
                c.x = [widened(slots[i], t) if slots[i].dtype == DTYPES[t] else slots[i] for i, t in zip(args, types)]
                y = op.forward(c)[0]
                rounded = narrowed(np.broadcast_to(y, (e - s,)), out)
                inner = places[k] is None and k + 1 < len(steps)
                if inner and planted("fused_integers_not_wrapped") and out == "i32":
                    rounded = np.broadcast_to(y, (e - s,))
                slots.append(rounded)
                written.append(rounded)
            for buffer, y in zip(places, written):
                if buffer is not None:
                    buffer.data[s:e] = y

    @staticmethod
    def tile_context(op, a, types):
        from .rule import Context
        return Context(op, a, types)
