"""Writes values.json: operands of small integers, and what numpy.einsum or loops written out by hand make of them.

Run by hand: /usr/bin/python3 tests/einsum/values.py > tests/einsum/values.json
"""
import json

import numpy as np

rng = np.random.default_rng(11)
cases = []


def draw(*shape):
    return rng.integers(-4, 5, shape).astype(float)


def tensor(a):
    if isinstance(a, np.ndarray) and a.dtype == bool:
        return {"dtype": "bool", "shape": list(a.shape), "data": [int(v) for v in a.ravel()]}
    a = np.asarray(a)
    if a.dtype.kind == "i":
        return {"dtype": "i64", "shape": list(a.shape), "data": [int(v) for v in a.ravel()]}
    data = ["-inf" if v == -np.inf else "inf" if v == np.inf else float(v) for v in a.ravel()]
    return {"dtype": "f64", "shape": list(a.shape), "data": data}


def case(spec, operands, results, semiring="sum_product", captures="", **attributes):
    results = results if isinstance(results, tuple) else (results,)
    cases.append({"spec": spec, "semiring": semiring, "captures": captures, "attributes": attributes,
                  "operands": [tensor(a) for a in operands], "results": [tensor(r) for r in results]})


def numpy_form(spec, *operands):
    case(spec, operands, np.asarray(np.einsum(spec, *operands)))


def same_as(spec, numpy_spec, *operands, **more):
    case(spec, operands, np.asarray(np.einsum(numpy_spec, *operands)), **more)


# NumPy's form
numpy_form("ij,jk->ik", draw(2, 3), draw(3, 4))
numpy_form("ij,jk", draw(2, 3), draw(3, 4))
numpy_form("ba", draw(2, 3))
numpy_form("ii->i", draw(3, 3))
numpy_form("ii", draw(3, 3))
numpy_form("ij->", draw(2, 3))
numpy_form("i,j->ij", draw(2), draw(3))
numpy_form("bij,bjk,ka->bia", draw(2, 2, 3), draw(2, 3, 2), draw(2, 2))
numpy_form("ijk->j", draw(2, 3, 2))
numpy_form("...ij,...jk->...ik", draw(2, 1, 2, 3), draw(3, 3, 2))
numpy_form("i...->...", draw(3, 2, 2))
numpy_form("...i,...i", draw(2, 3), draw(3))
numpy_form(",ij->ji", draw(), draw(2, 3))
numpy_form("xy,yz->zx", draw(2, 3), draw(3, 2))
numpy_form("Ab,bA->A", draw(2, 3), draw(3, 2))
case("ij,jk->ik", (np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2)), np.arange(6).reshape(2, 3) @ np.arange(6).reshape(3, 2))

# the general form: kinds, rows, permutations, reductions, diagonals
same_as("ij;jk=>ik", "ij,jk->ik", draw(2, 3), draw(3, 4))
same_as(" i j ; j k => i k ", "ij,jk->ik", draw(2, 3), draw(3, 4))
same_as("i->o; i => o", "oi,i->o", draw(3, 2), draw(2))
same_as("b|i->o; b|i => b|o", "boi,bi->bo", draw(2, 3, 4), draw(2, 4))
same_as("...|k->j; ...|i->k => ...|i->j", "...jk,...ki->...ji", draw(2, 3, 2), draw(2, 4))
same_as("...|...; ...|... => ...|...".replace("...|...", "..v.."), "ij,ij->ij", draw(2, 3), draw(2, 3))
same_as("..v.., rows; rows => ..v..", "ijr,r->ij", draw(2, 3, 2), draw(2))
same_as("ij=>j", "ij->j", draw(2, 3))
same_as("i_=>i", "ij->i", draw(2, 3))
same_as("ii=>i", "ii->i", draw(3, 3))
same_as("iij=>ij", "iij->ij", draw(2, 2, 3))
x = draw(3)
case("i=>ii", (x,), np.diag(x))
case("i=>_i", (x,), x[None])
case("=>ii", (draw() * 0 + 1,), np.eye(3), n_i=3)
case("=>i", (np.array(1.0),), np.ones(4), n_i=4)
case("i=>ji", (x,), np.tile(x, (2, 1)), n_j=2)
same_as("sum, y, x1 => x1, y", "abc->cb", draw(2, 3, 2))

# fixed indices
x = draw(3, 2)
case("1i=>i", (x,), x[1])
case("i0=>i", (x,), x[:, 0])
case("i=>0i", (x[0],), x[0][None])
y = np.zeros((2, 3)); y[:, 2] = x[1]
case("i=>i2", (x[1],), y)

# affine indices of operands
for n in (6, 7):
    x = draw(n)
    case("2*i=>i", (x,), x[::2])
    case("2*i+1=>i", (x,), x[1::2])
    case("s*i=>i", (x,), x[::3], s=3)


def loop(shape, body):
    out = np.zeros(shape)
    for at in np.ndindex(*shape):
        out[at] = body(*at)
    return out


x, k = draw(8), draw(3)
for spec in ("i+k;k=>i", "i<+k;k=>i"):
    case(spec, (x, k), loop((6,), lambda i: sum(x[i + j] * k[j] for j in range(3))))
case("2*i<+k;k=>i", (x, k), loop((3,), lambda i: sum(x[2 * i + j] * k[j] for j in range(3))))
case("i<+3*k;k=>i", (x, k), loop((2,), lambda i: sum(x[i + 3 * j] * k[j] for j in range(3))))
case("i<+1+k;k=>i", (x, k), loop((5,), lambda i: sum(x[i + 1 + j] * k[j] for j in range(3))))
case("stride*i<+far*k;k=>i", (x, k), loop((2,), lambda i: sum(x[2 * i + 2 * j] * k[j] for j in range(3))), stride=2, far=2)
at = lambda a, i: a[i] if 0 <= i < len(a) else 0.0
case("i=+k;k=>i", (x, k), loop((8,), lambda i: sum(at(x, i + j - 1) * k[j] for j in range(3))))
case("2*i=+k;k=>i", (x, k), loop((4,), lambda i: sum(at(x, 2 * i + j - 1) * k[j] for j in range(3))))
case("i=+2*k;k=>i", (x, k), loop((8,), lambda i: sum(at(x, i + 2 * j - 2) * k[j] for j in range(3))))
k = draw(4)
case("i=+k;k=>i", (x, k), loop((8,), lambda i: sum(at(x, i + j - 1) * k[j] for j in range(4))))
w = draw(6)
case("o+k;o=>k", (x, w), loop((3,), lambda j: sum(x[o + j] * w[o] for o in range(6))))
x, k = draw(1, 2, 4, 5), draw(2, 2, 3, 2)
case("b,c,oh<+kh,ow<+kw; o,c,kh,kw => b,o,oh,ow", (x, k), loop((1, 2, 2, 4), lambda b, o, i, j: sum(
    x[b, c, i + p, j + q] * k[o, c, p, q] for c in range(2) for p in range(3) for q in range(2))))
inside = lambda b, c, i, j: x[b, c, i, j] if 0 <= i < 4 and 0 <= j < 5 else 0.0
case("b|c,2*oh=+kh,2*ow=+kw; o,c,kh,kw => b|o,oh,ow", (x, k), loop((1, 2, 2, 3), lambda b, o, i, j: sum(
    inside(b, c, 2 * i + p - 1, 2 * j + q) * k[o, c, p, q] for c in range(2) for p in range(3) for q in range(2))))

# affine indices of the result
x, k = draw(4), draw(3)
even, odd = np.zeros(8), np.zeros(8)
even[::2], odd[1::2] = x, x
case("i=>2*i", (x,), even)
case("i=>2*i+1", (x,), odd)
y = np.zeros(14); y[4::3] = x
case("i=>3*i+4", (x,), y)
case("s*i=>i", (even,), x, s=2)
case("i=>s*i", (x,), even, s=2)
case("i=>s*i+1", (x,), odd, s=2)
case("i;k=>i+k", (x, k), np.convolve(x, k))
y = np.zeros(9)
for i in range(4):
    y[2 * i:2 * i + 3] += x[i] * k
case("i;k=>2*i+k", (x, k), y)
y = np.zeros(8)
for i in range(4):
    for j in range(3):
        if 0 <= 2 * i + j - 1 < 8:
            y[2 * i + j - 1] += x[i] * k[j]
case("i;k=>2*i=+k", (x, k), y)
x = draw(3, 2)
case("i,j=>i+3*j", (x,), x.T.ravel())
case("i,j=>i+j", (x,), np.array([x[0, 0], x[0, 1] + x[1, 0], x[1, 1] + x[2, 0], x[2, 1]]))

# concatenation and its reverse
a, b, c = draw(2), draw(3), draw(1)
case("a;b=>a^b", (a, b), np.concatenate([a, b]))
case("a;b;c=>c^a^b", (a, b, c), np.concatenate([c, a, b]))
p, q = draw(2, 2), draw(3, 2)
case("a,c;b,c=>a^b,c", (p, q), np.concatenate([p, q]))
case("a,c;b,c=>c,a^b", (p, q), np.concatenate([p, q]).T)
case("a,c;b,c;c=>a^b,c", (p, q, draw(2) * 0 + 3), 3 * np.concatenate([p, q]))
x = draw(5)
case("a^b=>a", (x,), x[:2], n_a=2)
case("a^b=>b", (x,), x[2:], n_a=2)
case("3^a=>a", (x,), x[3:])
case("a^3=>a", (x,), x[:2])
case("1^a^2=>a", (x,), x[1:3])
case("a^b=>b^a", (x,), np.roll(x, -2), n_a=2)
case("a=>3^a", (x,), np.pad(x, (3, 0)))
case("a=>a^2", (x,), np.pad(x, (0, 2)))
case("a=>a^b", (x,), np.pad(x, (0, 2)), n_b=2)
case("2*a;b=>b^a", (x, b), np.concatenate([b, x[::2]]))
case("a^b;a;b=>a^b", (x, a, b), np.concatenate([x[:2] * a, x[2:] * b]))
case("a^b,c=>c", (draw(5, 2) * 0 + np.arange(5)[:, None],), np.array([10.0, 10.0]), n_a=2)
x = draw(6)
case("a^a=>a", (x,), x[:3] + x[3:], n_a=3)
case("a^b=>", (x,), np.asarray(x.sum()), n_a=2)

# captured extents
x = draw(2, 3)
case("ij=>j", (x,), (x.sum(0), np.array(2), np.array(3)), captures="i j")
x = draw(2, 3, 2)
case("..v..,i=>i", (x,), (x.sum((0, 1)), np.array(6)), captures="v")
x = draw(7)
case("2*i=>i", (x,), (x[::2], np.array(4)), captures="i")

# other semirings
a, b = draw(2, 3), draw(3, 2)
folds = {"max_plus": (max, lambda u, v: u + v), "min_plus": (min, lambda u, v: u + v), "max_times": (max, lambda u, v: u * v),
         "min_times": (min, lambda u, v: u * v), "max_min": (max, min), "min_max": (min, max)}
for semiring, (fold, times) in folds.items():
    case("ij;jk=>ik", (a, b), loop((2, 2), lambda i, k: fold(times(a[i, j], b[j, k]) for j in range(3))), semiring)
case("ij,jk->ik", (a > 0, b > 0), (a > 0) @ (b > 0), "any_all")
case("ij,jk->ik", (a > 0, b > 0), ~((a <= 0) @ (b <= 0)), "all_any")
case("ij=>i", (a,), a.max(1), "max_plus")
case("ij=>", (a,), np.asarray(a.min()), "min_times")
case("i,j->ij", (a[0], b[0]), np.add.outer(a[0], b[0]), "max_plus")
x = draw(6)
case("2*o<+k;k=>o", (x, np.zeros(2)), x.reshape(3, 2).max(1), "max_plus")
shifted = np.concatenate([[-np.inf], x, [-np.inf]])
case("o=+k;k=>o", (x, np.zeros(3)), np.stack([shifted[:-2], x, shifted[2:]]).max(0), "max_plus")
y = np.full(4, np.inf); y[1::2] = x[:2]
case("i=>2*i+1", (x[:2],), y, "min_plus")
case("a=>a^1", (x[:2],), np.array([x[0], x[1], -np.inf]), "max_plus")
case("a^b=>", (x,), np.asarray(x.max()), "max_plus", n_a=2)
y = np.zeros(4, bool); y[::2] = True
case("i=>2*i", (np.array([True, True]),), y, "any_all")

print("[" + ",\n ".join(json.dumps(c) for c in cases) + "]")
