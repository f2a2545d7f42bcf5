"""One step of recurrent networks: the body of a scan over time."""
from tracer import array as a
from tracer.array import cut, where
from tracer.faults import fault
from tracer.library.elementwise import logistic
from tracer.library.indexing import affine
from tracer.registry import operation


def gates(z, count):
    n = z.shape[-1] // count
    return [cut(z, z.rank - 1, i * n, (i + 1) * n) for i in range(count)]


@operation(nonlinearity="tanh")
def rnn_cell(at, x, h, wi, wh, bi=None, bh=None):
    z = affine(x, wi, bi) + affine(h, wh, None if fault("rnn_one_bias") and bi is not None else bh)
    return a.tanh(z) if at.nonlinearity == "tanh" else where(z <= 0, 0, z)


@operation()
def lstm_cell(at, x, h, c, wi, wh, bi=None, bh=None):
    into, forget, cell, out = gates(affine(x, wi, bi) + affine(h, wh, bh), 4)
    if fault("lstm_gate_order"):
        cell, out = out, cell
    carry = logistic(forget) * c + logistic(into) * a.tanh(cell)
    return [logistic(out) * a.tanh(c if fault("lstm_reads_old_carry") else carry), carry]


@operation()
def gru_cell(at, x, h, wi, wh, bi=None, bh=None):
    (r1, z1, n1), (r2, z2, n2) = gates(affine(x, wi, bi), 3), gates(affine(h, wh, bh), 3)
    reset, update = logistic(r1 + r2), logistic(z1 + z2)
    new = a.tanh(n1 + reset * n2)
    if fault("gru_reset_before_bias") and bh is not None:
        bias = cut(bh, 0, 2 * h.shape[-1], 3 * h.shape[-1])
        new = a.tanh(n1 + reset * (n2 - bias) + bias)
    return (1.0 - update) * new + update * h
