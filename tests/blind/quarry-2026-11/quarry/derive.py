"""Derivatives: JVP by the rules of the primitives; VJP by transposing the linear part that JVP wrote down."""
import numpy as np

from quarry.ir import constant, reachable, variable
from quarry.scalar import add, emit
from quarry.switch import defect


def zeros_like(node):
    return constant(np.zeros(node.shape, node.dtype))


def jvp(outputs, tangent_of):
    """Tangents of the outputs, None for exact zeros; `tangent_of` has those of inputs by number."""
    tangents = dict(tangent_of)
    for node in reachable(outputs):
        if node.number in tangents:
            continue
        found = None
        if node.prim is not None and node.real:
            incoming = [tangents.get(a.number) if a.real else None for a in node.args]
            if any(t is not None for t in incoming):
                found = node.prim.jvp(node, incoming)
        tangents[node.number] = found
    return [tangents[o.number] if o.real else None for o in outputs]


def transpose(outputs, cotangents, inputs):
    """Cotangents of the inputs, by running the linear graph from them to the outputs backwards."""
    live = [o for o in outputs if o is not None]
    order = reachable(live)
    linear = {i.number for i in inputs}
    for node in order:
        if any(a.number in linear for a in node.args):
            linear.add(node.number)
    sums = {}

    def put(node, ct):
        if ct is not None:
            sums[node.number] = ct if node.number not in sums else emit(
                add, sums[node.number], ct)

    if defect("outputs_shared_lose_cotangent"):
        named = {o.number: (o, ct) for o, ct in zip(outputs, cotangents) if o is not None}
        outputs, cotangents = [o for o, _ in named.values()], [ct for _, ct in named.values()]
    for output, ct in zip(outputs, cotangents):
        if output is not None and ct is not None and output.number in linear:
            put(output, ct)
    wanted = {i.number for i in inputs}
    for node in reversed(order):
        if node.number not in linear or node.number not in sums or node.number in wanted:
            continue
        if defect("intermediate_output_reseeded"):
            for output, ct in zip(outputs, cotangents):
                if output is node and ct is not None:
                    sums[node.number] = ct
        on = tuple(a.number in linear for a in node.args)
        for a, ct, is_linear in zip(node.args, node.prim.transpose(node, sums[node.number], on), on):
            if is_linear:
                put(a, ct)
    return [sums.get(i.number) for i in inputs]


def vjp(outputs, inputs, cotangents):
    """Cotangents of the inputs for those of the outputs: linearised at the inputs, then transposed."""
    moved = {i.number: variable(i.shape, i.dtype) for i in inputs}
    tangents = jvp(outputs, moved)
    found = transpose(tangents, cotangents, [moved[i.number] for i in inputs])
    return [zeros_like(i) if ct is None else ct for i, ct in zip(inputs, found)]
