"""Runs programs: values with buffers that are used again, tangents, and the tape of closures."""
import numpy as np

from .calls import Call, name_of
from .peephole import Peephole
from .registry import REAL
from .switch import on

IN_PLACE = set("""
    neg abs sign square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log1p sin cos tan sinh cosh tanh sigmoid
    erf relu leaky_relu elu gelu silu sat01 softplus floor ceil round trunc add sub mul div maximum minimum
    scale clamp fma where pow power logical_not
""".split())


class Run:
    """One request's program on its inputs."""

    def __init__(self, program, inputs, forward):
        self.inputs = [d["name"] for d in program["inputs"]]
        self.outputs = list(program["outputs"])
        self.calls = [Call(k["operation"], list(k["operands"]), k.get("attributes") or {}, list(k["results"]))
                      for k in program["calls"]]
        self.values = dict(zip(self.inputs, inputs))
        self.types = {n: name_of(v) for n, v in self.values.items()}
        self.peephole = Peephole(self.values, self.types, forward, self.calls, self.outputs)
        self.last = {}
        for i, call in enumerate(self.calls):
            for n in call.operands:
                self.last[n] = i
        for n in self.outputs:
            self.last[n] = len(self.calls)

    def _keep(self, call, results):
        for n, v in zip(call.results, results):
            self.values[n] = v
            self.types[n] = name_of(v)
        self.peephole.note(call)

    def _operands(self, call):
        return [None if n is None else self.values[n] for n in call.operands]

    def _dead(self, name, i):
        return self.last.get(name, -1) <= i

    def _reused(self, i, call, result):
        """The result in the buffer of an operand that nobody needs any more, where there is one."""
        for n in call.operands:
            v = self.values.get(n)
            if v is None or not v.buf.flags.writeable or not self._dead(n, i):
                continue
            if v.shape != result.shape or v.dtype != result.dtype or v.buf.size != v.size or not v.is_dense():
                continue
            sharing = [m for m, u in self.values.items() if u.buf is v.buf]
            if any(not self._dead(m, i) for m in sharing) and not on("reuse_overlooks_views"):
                continue
            v.buf[:] = result.array().reshape(-1)
            for m in sharing:
                if self._dead(m, i):
                    self.values.pop(m)
            return v
        return result

    def forward(self):
        for i, call in enumerate(self.calls):
            call = self.peephole(call)
            results = call.forward(self._operands(call))
            if call.operation in IN_PLACE:
                results = (self._reused(i, call, results[0]),)
            self._keep(call, results)
        return [self.values[n] for n in self.outputs]

    def jvp(self, dots):
        dots = dict(dots)
        for call in self.calls:
            call = self.peephole(call)
            results, moved = call.pushed(self._operands(call), [dots.get(n) for n in call.operands])
            for n, d in zip(call.results, moved):
                if d is not None:
                    dots[n] = d
            self._keep(call, results)
        return [self.values[n] for n in self.outputs], [dots.get(n) for n in self.outputs]

    def vjp(self, seeds, wrt):
        """Outputs and the cotangents of the marked inputs, by name."""
        flows, tape = set(wrt), []
        for call in self.calls:
            call = self.peephole(call)
            operands = self._operands(call)
            needs = [n in flows and self.types[n] in REAL for n in call.operands]
            if any(needs):
                results, back = call.recorded(operands, needs)
                tape.append((call, needs, back))
                flows.update(call.results)
            else:
                results = call.forward(operands)
            self._keep(call, results)
        outputs = [self.values[n] for n in self.outputs]
        return outputs, Gradients(self, seeds).through(tape)


class Gradients:
    """Cotangents by name; those that come later are added in place."""

    def __init__(self, run, seeds):
        self.run, self.grads, self.seeds = run, {}, {}
        for n, g in zip(run.outputs, seeds):
            if g is not None:
                self.add(n, g)
                self.seeds[n] = g

    def add(self, name, g):
        if name in self.grads:
            self.grads[name] += g
        else:
            self.grads[name] = g if on("first_gradient_not_owned") else np.array(g, copy=True)

    def of(self, name):
        if name in self.seeds and on("seed_replaces_gradient"):
            return self.seeds[name]
        return self.grads.get(name)

    def merged(self, parts):
        """By name; an operand that a call reads twice gets both parts."""
        found = {}
        for n, g in parts:
            found[n] = found[n] + g if n in found and not on("repeated_operand_once") else g
        return found

    def through(self, tape):
        for call, needs, back in reversed(tape):
            gs = [self.of(r) for r in call.results]
            if all(g is None for g in gs):
                continue
            parts = [(n, g) for n, g, need in zip(call.operands, back(gs), needs) if need and g is not None]
            for n, g in self.merged(parts).items():
                self.add(n, g)
        return self.grads
