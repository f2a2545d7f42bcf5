"""Tangents beside the values, and cotangents back through the calls."""
import numpy as np

from .switch import planted
from .tensors import REALS, narrowed, widened


def context(executor, node):
    c = executor.context(node)
    c.y = [widened(v.view.array(), v.dtype) if v.view is not None else None for v in node.outs]
    return c


def stored(array, value):
    """Rounded to the value's type, as a call stores it."""
    return np.array(np.broadcast_to(narrowed(array, value.dtype), value.shape))


def marked(request, inputs):
    wrt = request.get("wrt")
    given = request.get("tangents") or [None] * len(inputs)
    if wrt is None:
        flags = [t is not None for t in given]
    elif all(isinstance(w, bool) for w in wrt) and len(wrt) == len(inputs):
        flags = list(wrt)
    else:
        flags = [k in wrt for k in range(len(inputs))]
    return [f and v.dtype in REALS for f, v in zip(flags, inputs)]


def forward_mode(executor, graph, tangents):
    """tangents: of the inputs, None where there is none. Answers those of the outputs."""
    moving = {id(v): t for v, t in zip(graph.inputs, tangents) if t is not None}
    for node in graph.nodes:
        args = node.inputs()
        if not any(v is not None and id(v) in moving for v in args):
            continue
        c = context(executor, node)
        ts = [widened(moving[id(v)], v.dtype, node.op.extended) if v is not None and id(v) in moving else None
              for v in args]
        for out, t in zip(node.outs, node.op.jvp(c, ts)):
            if t is not None and out.dtype in REALS:
                moving[id(out)] = stored(t, out)
    return [moving.get(id(v)) if id(v) in moving else (np.zeros(v.shape) if v.dtype in REALS else None)
            for v in graph.outputs]


def active_values(graph, flags):
    active = {id(v) for v, f in zip(graph.inputs, flags) if f}
    for node in graph.nodes:
        if any(v is not None and id(v) in active for v in node.inputs()):
            active.update(id(v) for v in node.outs if v.dtype in REALS)
    return active


def reverse_mode(executor, graph, flags, cotangents):
    active, pulls = active_values(graph, flags), {}

    def pull(v, g):
        g = widened(g, v.dtype)
        pulls[id(v)] = pulls[id(v)] + g if id(v) in pulls else g

    for v, g in zip(graph.outputs, cotangents):
        if g is not None and id(v) in active:
            if planted("seeds_of_shared_outputs") and id(v) in pulls:
                pulls[id(v)] = widened(g, v.dtype)
            else:
                pull(v, g)
    seeded = set(pulls)
    for node in reversed(graph.nodes):
        if not any(id(v) in pulls for v in node.outs):
            continue
        args = node.inputs()
        c = context(executor, node)
        c.wanted = [v is not None and id(v) in active for v in args]
        if not any(c.wanted):
            continue
        gs = [widened(narrowed(pulls[id(v)], v.dtype), v.dtype, node.op.extended) if id(v) in pulls else None
              for v in node.outs]
        found = node.op.vjp(c, gs)
        for v, g, wanted in zip(args, found, c.wanted):
            if not wanted or g is None:
                continue
            if planted("seed_lost_where_consumed") and id(v) in seeded and v.node is not None:
                pulls.pop(id(v), None)
                seeded.discard(id(v))
            pull(v, stored(g, v))
    out = []
    for v, f in zip(graph.inputs, flags):
        if not f:
            out.append(None)
        else:
            out.append(stored(pulls[id(v)], v) if id(v) in pulls else np.zeros(v.shape))
    return out
