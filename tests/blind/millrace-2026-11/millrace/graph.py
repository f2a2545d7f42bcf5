"""The lazy graph of a request: what was called on what. Nothing is computed here."""
from .rule import OPS, Context, attributes_of, need
from .switch import planted


class Value:
    def __init__(self, dtype=None, node=None, index=0):
        self.dtype, self.node, self.index = dtype, node, index
        self.view = None
        self.uses = 0        # consumers that have not run
        self.keep = False    # an output, or saved for a derivative

    @property
    def shape(self):
        return self.view.shape


class Node:
    def __init__(self, op, attributes, args, packs, results, running=None):
        self.op, self.a, self.args, self.packs = op, attributes, args, packs
        self.running = running or {}
        self.outs = [Value(None, self, k) for k in range(results)]

    def inputs(self):
        """Operands, then attributes that are scalars of the program."""
        return self.args + [self.running[n] for n in sorted(self.running)]

    def context(self):
        c = Context(self.op, self.a, [v.dtype if v else None for v in self.args], self.packs)
        return c

    def set_dtypes(self):
        for out, dtype in zip(self.outs, self.context().result_dtypes(len(self.outs))):
            out.dtype = dtype


class Graph:
    def __init__(self, program):
        self.names, self.nodes, self.inputs = {}, [], []
        for declared in program["inputs"]:
            v = self.names[declared["name"]] = Value(declared["dtype"])
            self.inputs.append(v)
        for call in program["calls"]:
            self.record(call)
        self.outputs = [self.names[n] for n in program["outputs"]]

    def record(self, call):
        name = call.get("operation")
        need(name in OPS, "operation", f"{name} is not offered")
        op = OPS[name]
        plain, running = attributes_of(call)
        for attribute in running:
            need(attribute in getattr(op, "running", ()), "attribute", f"{attribute} of {name} is a plain number here")
        args = [self.names[n] if n is not None else None for n in call["operands"]]
        while args and args[-1] is None:
            args.pop()
        node = Node(op, plain, args, call.get("packs"), len(call["results"]),
                    {k: self.names[n] for k, n in running.items()})
        node.set_dtypes()
        for v in node.outs:
            need(v.dtype in ("f32", "f64", "i32", "i64", "bool"), "dtype", f"{v.dtype} is not offered")
        self.nodes.append(node)
        for result, out in zip(call["results"], node.outs):
            self.names[result] = out

    # Rewrites, none of which changes a bit of an answer.
    def replace(self, old, new):
        for node in self.nodes:
            node.args = [new if v is old else v for v in node.args]
            node.running = {k: new if v is old else v for k, v in node.running.items()}
        self.outputs = [new if v is old else v for v in self.outputs]

    def simplify(self):
        for node in list(self.nodes):
            found = rewritten(node)
            if isinstance(found, Value):
                self.replace(node.outs[0], found)
            elif found is not None:
                node.op, node.a, node.args = found
        self.share()
        self.prune()

    def share(self):
        """Calls of the same operation on the same operands are one."""
        seen = {}
        for node in list(self.nodes):
            args = [id(v) for v in node.inputs()]
            if planted("share_sorts_operands") and node.op.kind == "map" and len(args) == 2:
                args = sorted(args)
            settings = repr(sorted(node.a.items()))
            if planted("share_settings_by_equality"):
                settings = tuple(sorted((k, tuple(v) if isinstance(v, list) else v) for k, v in node.a.items()))
            key = (node.op.name, settings, tuple(args), len(node.outs), tuple(sorted(node.running)))
            if key in seen:
                for old, new in zip(node.outs, seen[key].outs):
                    self.replace(old, new)
            else:
                seen[key] = node

    def prune(self):
        live = {id(v) for v in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if any(id(v) in live for v in node.outs):
                kept.append(node)
                live.update(id(v) for v in node.inputs() if v is not None)
        self.nodes = kept[::-1]


LOSSLESS = {("i32", "i64"), ("f32", "f64"), ("bool", "i32"), ("bool", "i64"), ("bool", "f32"), ("bool", "f64"),
            ("i32", "f64")}


def rewritten(node):
    """A value that the node equals, or (operation, attributes, operands) of a shorter way; None where there is none."""
    name = node.op.name
    before = node.args[0].node if node.args and node.args[0] is not None else None
    if before is None or len(before.outs) != 1 or before.op.name != name:
        return None
    first, second = before.a, node.a
    if name == "neg":
        return before.args[0]
    if name == "transpose":
        p, q = first["permutation"], second["permutation"]
        joined = [q[k] for k in p] if planted("transposes_joined_backwards") else [p[k] for k in q]
        return node.op, {"permutation": joined}, before.args
    if name == "flip" and min(first["axes"] + second["axes"], default=0) >= 0:
        both = set(first["axes"]) ^ set(second["axes"])
        return node.op, {"axes": sorted(both)}, before.args
    if name == "clamp":
        low, high = max(first["low"], second["low"]), min(first["high"], second["high"])
        fits = first["low"] <= first["high"] and second["low"] <= second["high"] and low <= high
        if fits:
            return node.op, {"low": low, "high": high}, before.args
    if name == "cast":
        source, middle = before.args[0].dtype, first["dtype"]
        if (source, middle) in LOSSLESS:
            return node.op, dict(second), before.args
    if name == "pad" and all(isinstance(a[k], list) for a in (first, second) for k in ("low", "high")):
        if repr(first["value"]) == repr(second["value"]):
            widths = first["low"] + first["high"] + second["low"] + second["high"]
            if all(w >= 0 for w in widths) or planted("pads_joined_though_cropped"):
                low, high = ([a + b for a, b in zip(first[k], second[k])] for k in ("low", "high"))
                return node.op, {"low": low, "high": high, "value": second["value"]}, before.args
    return None
