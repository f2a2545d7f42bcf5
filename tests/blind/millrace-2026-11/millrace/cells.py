"""One step of recurrent networks, with rules written by hand for the gated ones."""
import numpy as np

from . import numbers as N
from .rule import Op
from .switch import planted
from .tape import Var, lowered, matmul, tanh, transpose, where


def flip2(w):
    return transpose(w, [1, 0])


@lowered("rnn_cell")
def rnn_cell(c, a, x, h, wi, wh, bi=None, bh=None):
    def times(u, w):
        rows = Var(u.v[..., None, :], ((u, lambda d: d[..., None, :], lambda g: g[..., 0, :]),))
        y = matmul(rows, flip2(w))
        return Var(y.v[..., 0, :], ((y, lambda d: d[..., 0, :], lambda g: g[..., None, :]),))
    z = times(x, wi) + times(h, wh)
    for b in (bi, bh):
        if b is not None:
            z = z + b
    if a["nonlinearity"] == "tanh":
        return tanh(z)
    return where(z.v <= 0, 0.0, z)


class Gates:
    """The affine parts of a gated cell, and their derivatives."""

    def __init__(self, c, weights):
        self.wi, self.wh = c.x[weights], c.x[weights + 1]
        more = list(c.x[weights + 2:]) + [None, None]
        self.bi, self.bh = more[0], more[1]

    def affine(self, u, w, b):
        y = np.matmul(u[..., None, :], w.T)[..., 0, :]
        return y if b is None else y + b

    @staticmethod
    def moved(u, w, tu, tw, tb, shape):
        y = np.zeros(shape, w.dtype)
        if tu is not None:
            y = y + np.matmul(tu[..., None, :], w.T)[..., 0, :]
        if tw is not None:
            y = y + np.matmul(u[..., None, :], tw.T)[..., 0, :]
        return y if tb is None else y + tb

    @staticmethod
    def outer(z, u):
        rows = int(np.prod(z.shape[:-1], dtype=np.int64))
        return np.matmul(z.reshape(rows, z.shape[-1]).T, u.reshape(rows, u.shape[-1]))


def total(z):
    return z.sum(axis=tuple(range(z.ndim - 1)))


class Lstm:
    def __init__(self, c):
        self.x, self.h, self.c = c.x[:3]
        self.g = g = Gates(c, 3)
        self.z = g.affine(self.x, g.wi, g.bi) + g.affine(self.h, g.wh, g.bh)
        n = self.h.shape[-1]
        self.part = [self.z[..., k * n:(k + 1) * n] for k in range(4)]
        self.i, self.f, self.o = (N.logistic(self.part[k]) for k in (0, 1, 3))
        self.n = np.tanh(self.part[2])
        # Slopes of the gates and of both tanh, without cancelling.
        self.di, self.df, self.do = (N.logistic(self.part[k]) * N.logistic(-self.part[k]) for k in (0, 1, 3))
        self.dn = N.slope_of_tanh(self.part[2])
        self.c1 = self.f * self.c + self.i * self.n
        self.u, self.du = np.tanh(self.c1), N.slope_of_tanh(self.c1)


def lstm_forward(c):
    s = Lstm(c)
    return [s.o * s.u, s.c1]


def lstm_jvp(c, ts):
    s = Lstm(c)
    ts = list(ts) + [None] * (7 - len(ts))
    g = s.g
    z = g.moved(s.x, g.wi, ts[0], ts[3], ts[5], s.z.shape) + g.moved(s.h, g.wh, ts[1], ts[4], ts[6], s.z.shape)
    n = s.h.shape[-1]
    zi, zf, zn, zo = (z[..., k * n:(k + 1) * n] for k in range(4))
    c1 = s.df * zf * s.c + s.di * zi * s.n + s.i * s.dn * zn
    if ts[2] is not None and not planted("lstm_jvp_without_cell"):
        c1 = c1 + s.f * ts[2]
    h1 = s.do * zo * s.u + s.o * s.du * c1
    return [h1, c1]


def lstm_vjp(c, gs):
    s = Lstm(c)
    gh = np.zeros_like(s.c1) if gs[0] is None else gs[0]
    gc = np.zeros_like(s.c1) if gs[1] is None else gs[1]
    through = gh * s.o * s.du
    d = through if planted("lstm_cell_cotangent_dropped") and gs[0] is not None else gc + through
    z = np.concatenate([d * s.n * s.di, d * s.c * s.df, d * s.i * s.dn, gh * s.u * s.do], -1)
    g = s.g
    out = [np.matmul(z[..., None, :], g.wi)[..., 0, :], np.matmul(z[..., None, :], g.wh)[..., 0, :], d * s.f,
           g.outer(z, s.x), g.outer(z, s.h), total(z), total(z)]
    return out[:len(c.x)]


Op("lstm_cell", "call", lstm_forward, lstm_jvp, lstm_vjp, saves="x", extended=True)


class Gru:
    def __init__(self, c):
        self.x, self.h = c.x[:2]
        self.g = g = Gates(c, 2)
        self.s, self.t = g.affine(self.x, g.wi, g.bi), g.affine(self.h, g.wh, g.bh)
        n = self.n = self.h.shape[-1]
        zr, zu = self.s[..., :n] + self.t[..., :n], self.s[..., n:2 * n] + self.t[..., n:2 * n]
        self.r, self.dr = N.logistic(zr), N.logistic(zr) * N.logistic(-zr)
        self.u, self.du, self.left = N.logistic(zu), N.logistic(zu) * N.logistic(-zu), N.logistic(-zu)
        t = self.t[..., 2 * n:]
        z = self.s[..., 2 * n:] + self.r * t
        self.new, self.dn = np.tanh(z), N.slope_of_tanh(z)


def gru_forward(c):
    s = Gru(c)
    return [s.left * s.new + s.u * s.h]


def gru_jvp(c, ts):
    s = Gru(c)
    ts = list(ts) + [None] * (6 - len(ts))
    g, n = s.g, s.n
    ds = g.moved(s.x, g.wi, ts[0], ts[2], ts[4], s.s.shape)
    dt = g.moved(s.h, g.wh, ts[1], ts[3], ts[5], s.t.shape)
    dr = (ds[..., :n] + dt[..., :n]) * s.dr
    du = (ds[..., n:2 * n] + dt[..., n:2 * n]) * s.du
    a = (ds[..., 2 * n:] + dr * s.t[..., 2 * n:] + s.r * dt[..., 2 * n:]) * s.dn
    y = a * s.left + du * (s.h - s.new)
    return [y if ts[1] is None else y + s.u * ts[1]]


def gru_vjp(c, gs):
    s, gh = Gru(c), gs[0]
    g, n = s.g, s.n
    a = gh * s.left * s.dn
    zr = a * s.t[..., 2 * n:] * s.dr
    zu = gh * (s.h - s.new) * s.du
    s1 = np.concatenate([zr, zu, a], -1)
    t1 = np.concatenate([zr, zu, a if planted("gru_vjp_hidden_new_gate") else a * s.r], -1)
    out = [np.matmul(s1[..., None, :], g.wi)[..., 0, :], gh * s.u + np.matmul(t1[..., None, :], g.wh)[..., 0, :],
           g.outer(s1, s.x), g.outer(t1, s.h), total(s1), total(t1)]
    return out[:len(c.x)]


Op("gru_cell", "call", gru_forward, gru_jvp, gru_vjp, saves="x", extended=True)
