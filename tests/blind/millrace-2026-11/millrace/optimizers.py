"""Optimizer steps: one fused kernel each over a whole parameter, and what is done to gradients before."""
import numpy as np

from . import tape as T
from .switch import planted
from .tape import Var, lowered


def plain(v):
    """The number of an attribute that may be a scalar of the program."""
    return float(v.v) if isinstance(v, Var) else v


def decayed(a, p, g):
    return g + a["weight_decay"] * p


def step_count(t):
    return np.asarray(int(t))


def bias(beta, t, like):
    """1 - beta^t."""
    if isinstance(beta, Var):
        return 1 - T.power(beta, Var(np.asarray(float(t), like.v.dtype)))
    return 1 - Var(np.power(np.asarray(beta, np.longdouble), int(t)).astype(like.v.dtype))


def moments(a, d, m, v):
    m1 = a["beta1"] * m + (1 - a["beta1"]) * d
    v1 = a["beta2"] * v + (1 - a["beta2"]) * d * d
    return m1, v1


def adam_step(a, m1, v1, t):
    c1, c2 = bias(a["beta1"], t, m1), bias(a["beta2"], t, m1)
    lr = a["lr"]
    if a["eps_hat"]:
        if planted("adam_eps_hat_ignored"):
            return lr * ((m1 / c1) / (T.sqrt(v1 / c2) + a["eps"]))
        return lr * T.sqrt(c2) / c1 * (m1 / (T.sqrt(v1) + a["eps"]))
    return lr * ((m1 / c1) / (T.sqrt(v1 / c2) + a["eps"]))


NAMES = ("lr", "weight_decay", "eps", "beta1", "beta2", "momentum", "dampening", "alpha", "rho", "lr_decay",
         "momentum_decay", "max_norm", "limit")


def optimizer(name):
    return lowered(name, running=NAMES)


@optimizer("sgd")
def sgd(c, a, p, g, m, t):
    d = decayed(a, p, g)
    if plain(a["momentum"]) == 0 or int(t) == 1:
        m1 = d
    else:
        m1 = a["momentum"] * m + (1 - a["dampening"]) * d
    move = m1
    if a["nesterov"]:
        move = (g if planted("sgd_nesterov_without_decay") else d) + a["momentum"] * m1
    return p - a["lr"] * move, m1


@optimizer("adam")
def adam(c, a, p, g, m, v, t):
    m1, v1 = moments(a, decayed(a, p, g), m, v)
    return p - adam_step(a, m1, v1, t), m1, v1


@optimizer("adamw")
def adamw(c, a, p, g, m, v, t):
    m1, v1 = moments(a, g, m, v)
    step = adam_step(a, m1, v1, t)
    if planted("adamw_decays_after_step"):
        return (p - step) * (1 - a["lr"] * a["weight_decay"]), m1, v1
    return p * (1 - a["lr"] * a["weight_decay"]) - step, m1, v1


@optimizer("amsgrad")
def amsgrad(c, a, p, g, m, v, w, t):
    m1, v1 = moments(a, decayed(a, p, g), m, v)
    w1 = T.maximum(w, v1)
    if planted("amsgrad_keeps_latest_divisor"):
        return p - adam_step(a, m1, v1, t), m1, v1, w1
    return p - adam_step(a, m1, w1, t), m1, v1, w1


@optimizer("nadam")
def nadam(c, a, p, g, m, v, mu, t):
    d = decayed(a, p, g)
    m1, v1 = moments(a, d, m, v)

    def momentum(k):
        decay, base = a["momentum_decay"], np.asarray(0.96, p.v.dtype)
        return a["beta1"] * (1 - 0.5 * T.power(Var(base), T.lift(k * decay, p)))
    x, y = momentum(int(t)), momentum(int(t) + 1)
    mu1 = mu * x
    if planted("nadam_next_momentum_uncorrected"):
        n = (1 - x) / (1 - mu1) * d + y / (1 - mu1) * m1
    else:
        n = (1 - x) / (1 - mu1) * d + y / (1 - mu1 * y) * m1
    return p - a["lr"] * (n / (T.sqrt(v1 / bias(a["beta2"], t, p)) + a["eps"])), m1, v1, mu1


@optimizer("radam")
def radam(c, a, p, g, m, v, t):
    d = decayed(a, p, g)
    m1, v1 = moments(a, d, m, v)
    beta2 = T.lift(a["beta2"], p)
    n = float(t)
    k = T.expm1(n * T.log(beta2))
    top = 2 / (1 - beta2) - 1
    rho = top + 2 * n * ((1 + k) / k)
    step = a["lr"] * (m1 / bias(a["beta1"], t, p))
    limit = 4 if planted("radam_threshold_four") else 5
    if float(rho.v) > limit:
        r = T.sqrt(((rho - 4) / (top - 4)) * ((rho - 2) / (top - 2)) * (top / rho))
        step = step * (r * (T.sqrt(-k) / (T.sqrt(v1) + a["eps"])))
    return p - step, m1, v1


@optimizer("adamax")
def adamax(c, a, p, g, m, u, t):
    d = decayed(a, p, g)
    m1 = a["beta1"] * m + (1 - a["beta1"]) * d
    u1 = T.maximum(a["beta2"] * u, T.absolute(d) + a["eps"])
    return p - a["lr"] / bias(a["beta1"], t, p) * (m1 / u1), m1, u1


@optimizer("lion")
def lion(c, a, p, g, m):
    m1 = a["beta2"] * m + (1 - a["beta2"]) * g
    x = m1 if planted("lion_sign_of_new_state") else a["beta1"] * m + (1 - a["beta1"]) * g
    return p * (1 - a["lr"] * a["weight_decay"]) - a["lr"] * T.pointwise(x, np.sign(x.v), lambda: np.zeros_like(x.v)), m1


@optimizer("adagrad")
def adagrad(c, a, p, g, s, t):
    d = decayed(a, p, g)
    s1 = s + d * d
    k = int(t) - 1
    return p - a["lr"] / (1 + k * T.lift(a["lr_decay"], p)) * (d / (T.sqrt(s1) + a["eps"])), s1


@optimizer("rmsprop")
def rmsprop(c, a, p, g, v, b, m):
    d = decayed(a, p, g)
    v1 = a["alpha"] * v + (1 - a["alpha"]) * d * d
    b1 = a["alpha"] * b + (1 - a["alpha"]) * d if a["centered"] else b
    under = v1 - b1 * b1 if a["centered"] else v1
    n = d / (T.sqrt(under) + a["eps"])
    if planted("rmsprop_momentum_takes_rate") and plain(a["momentum"]) != 0:
        m1 = a["momentum"] * m + a["lr"] * n
        return p - m1, v1, b1, m1
    m1 = n if plain(a["momentum"]) == 0 else a["momentum"] * m + n
    return p - a["lr"] * m1, v1, b1, m1


@optimizer("adadelta")
def adadelta(c, a, p, g, v, u):
    d = decayed(a, p, g)
    v1 = a["rho"] * v + (1 - a["rho"]) * d * d
    n = T.sqrt(u + a["eps"]) / T.sqrt(v1 + a["eps"]) * d
    moved = n
    u1 = a["rho"] * u + (1 - a["rho"]) * moved * moved
    return p - a["lr"] * n, v1, u1


def length(gs):
    s = None
    for g in gs:
        q = T.total(g * g)
        s = q if s is None else s + q
    return T.where(s.v <= 0, 0.0, T.sqrt(T.where(s.v <= 0, 1.0, s)))


@optimizer("clip_by_norm")
def clip_by_norm(c, a, *gs):
    out = []
    for g in gs:
        n = length(gs) + a["eps"]
        limit = T.lift(a["max_norm"], n)
        f = T.lift(1.0, n) if n.v <= limit.v else limit / n
        if planted("clip_by_norm_factor_constant"):
            f = T.detach(f)
        out.append(f * g)
    return tuple(out)


@optimizer("normalize_gradient")
def normalize_gradient(c, a, g):
    return g / (length([g]) + a["eps"])
