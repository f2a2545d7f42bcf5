"""One step of recurrent networks: the body of a scan over time."""
from quarry import build as a
from quarry.build import cut, where
from quarry.lowering.elementwise import logistic
from quarry.lowering.indexing import affine
from quarry.lower import operation
from quarry.switch import defect


def gates(z, count):
    n = z.shape[-1] // count
    return [cut(z, z.rank - 1, i * n, (i + 1) * n) for i in range(count)]


@operation(nonlinearity="tanh")
def rnn_cell(at, x, h, wi, wh, bi=None, bh=None):
    z = affine(x, wi, bi) + affine(h, wh, bh)
    return a.tanh(z) if at.nonlinearity == "tanh" else where(z <= 0, 0, z)


@operation()
def lstm_cell(at, x, h, c, wi, wh, bi=None, bh=None):
    into, forget, cell, out = gates(affine(x, wi, bi) + affine(h, wh, bh), 4)
    carry = logistic(forget) * c + logistic(into) * a.tanh(cell)
    if defect("lstm_output_reads_cut_carry"):
        return [logistic(out) * a.tanh(a.detach(carry)), carry]
    return [logistic(out) * a.tanh(carry), carry]


@operation()
def gru_cell(at, x, h, wi, wh, bi=None, bh=None):
    (r1, z1, n1), (r2, z2, n2) = gates(affine(x, wi, bi), 3), gates(affine(h, wh, bh), 3)
    reset, update = logistic(r1 + r2), logistic(z1 + z2)
    new = a.tanh(n1 + reset * (a.detach(n2) if defect("gru_hidden_part_constant") else n2))
    if defect("gru_update_gate_reversed"):
        return update * new + (1.0 - update) * h
    return (1.0 - update) * new + update * h
