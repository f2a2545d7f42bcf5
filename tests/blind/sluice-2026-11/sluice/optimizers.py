"""Optimizer steps: the plain variants are decompositions; the fused one of Adam runs over flat blocks."""
import numpy as np

from .elementwise import absolute, maximum, sign, sqrt, where
from .reductions import safe_root, sum_
from .registry import register
from .switch import on
from .tape import lift, node

BLOCK = 4


def number(c, x):
    return np.asarray(x, c.w)


def decayed(c, p, g):
    return g + p * c.weight_decay


def toward(old, new, rate, c):
    """The decaying average: rate*old + (1 - rate)*new."""
    return old * c[rate] + new * (1 - number(c, c[rate]))


def corrections(c, t):
    n = t.a.astype(c.w)
    return 1 - np.power(number(c, c.beta1), n), 1 - np.power(number(c, c.beta2), n)


@register("sgd")
def sgd(c, p, g, m, t):
    d = decayed(c, p, g)
    first = (t.a == 1 and not on("sgd_dampens_first_step")) or c.momentum == 0
    m1 = d * 1.0 if first else m * c.momentum + d * (1 - number(c, c.dampening))
    if c.nesterov:
        return p - (d + m1 * c.momentum) * c.lr, m1
    return p - m1 * c.lr, m1


def _step(c, m1, v1, t):
    """The change of Adam from its moments."""
    c1, c2 = corrections(c, t)
    if c.get("eps_hat"):
        root = sqrt(v1) + c.eps
        return (m1 / root) * (c.lr * np.sqrt(c2) / c1)
    return ((m1 / c1) / (sqrt(v1 / c2) + c.eps)) * c.lr


def _fused_adam(c, p, g, m, v, t):
    """The same numbers over flat blocks of four and a tail, where no derivative is asked."""
    flat = [np.reshape(x.a, -1) for x in (p, g, m, v)]
    out = [np.empty_like(flat[0]) for _ in range(3)]
    whole = flat[0].size // BLOCK * BLOCK
    for at in (slice(0, whole), slice(whole, flat[0].size)):
        pb, gb, mb, vb = (lift(x[at]) for x in flat)
        tail = at.start == whole and whole > 0
        d = gb * 1.0 if tail and on("fused_tail_without_decay") else decayed(c, pb, gb)
        m1, v1 = toward(mb, d, "beta1", c), toward(vb, d * d, "beta2", c)
        for y, x in zip(out, (pb - _step(c, m1, v1, t), m1, v1)):
            y[at] = x.a
    return tuple(lift(y.reshape(p.shape)) for y in out)


@register("adam")
def adam(c, p, g, m, v, t):
    if not any(x.needs or x.dot is not None for x in (p, g, m, v)):
        return _fused_adam(c, p, g, m, v, t)
    d = decayed(c, p, g)
    m1, v1 = toward(m, d, "beta1", c), toward(v, d * d, "beta2", c)
    return p - _step(c, m1, v1, t), m1, v1


@register("adamw")
def adamw(c, p, g, m, v, t):
    d, kept = g, p * (1 - number(c, c.lr) * c.weight_decay)
    if on("adamw_decay_in_gradient"):
        d, kept = decayed(c, p, g), p
    m1, v1 = toward(m, d, "beta1", c), toward(v, d * d, "beta2", c)
    return kept - _step(c, m1, v1, t), m1, v1


@register("amsgrad")
def amsgrad(c, p, g, m, v, w, t):
    d = decayed(c, p, g)
    m1, v1 = toward(m, d, "beta1", c), toward(v, d * d, "beta2", c)
    if on("amsgrad_keeps_corrected"):
        c2 = corrections(c, t)[1]
        w1 = maximum(w, v1 / c2)
        return p - _step(c, m1, w1 * c2, t), m1, v1, w1
    w1 = maximum(w, v1)
    return p - _step(c, m1, w1, t), m1, v1, w1


@register("nadam")
def nadam(c, p, g, m, v, mu, t):
    d = decayed(c, p, g)
    m1, v1 = toward(m, d, "beta1", c), toward(v, d * d, "beta2", c)
    n = t.a.astype(c.w)
    fall = number(c, 96) / 100
    rate = c.momentum_decay
    a = c.beta1 * (1 - 0.5 * np.power(fall, n * rate))
    b = c.beta1 * (1 - 0.5 * np.power(fall, (n + 1) * rate))
    mu1 = mu * a
    ahead = mu1 * b
    mean = d * ((1 - a) / (1 - mu1)) + m1 * (b / (1 - ahead))
    c2 = corrections(c, t)[1]
    return p - (mean / (sqrt(v1 / c2) + c.eps)) * c.lr, m1, v1, mu1


@register("radam")
def radam(c, p, g, m, v, t):
    d = decayed(c, p, g)
    m1, v1 = toward(m, d, "beta1", c), toward(v, d * d, "beta2", c)
    n = t.a.astype(c.w)
    k = np.expm1(n * np.log(number(c, c.beta2)))
    top = 2 / (1 - number(c, c.beta2)) - 1
    rho = top + 2 * n * ((1 + k) / k)
    change = (m1 / corrections(c, t)[0]) * c.lr
    if rho > (4 if on("radam_threshold_four") else 5):
        r = np.sqrt(((rho - 4) / (top - 4)) * ((rho - 2) / (top - 2)) * (top / rho))
        change = change * ((r * np.sqrt(-k)) / (sqrt(v1) + c.eps))
    return p - change, m1, v1


@register("adagrad")
def adagrad(c, p, g, s, t):
    d = decayed(c, p, g)
    s1 = s + d * d
    steps = t.a.astype(c.w) - (0 if on("adagrad_decays_at_once") else 1)
    return p - (d / (sqrt(s1) + c.eps)) * (c.lr / (1 + steps * c.lr_decay)), s1


@register("rmsprop")
def rmsprop(c, p, g, v, a, m):
    d = decayed(c, p, g)
    v1 = toward(v, d * d, "alpha", c)
    a1 = toward(a, d, "alpha", c) if c.centered else a * 1.0
    spread = v1
    if c.centered:
        mean = a if on("rmsprop_centres_on_old_mean") else a1
        spread = v1 - mean * mean
    n = d / (sqrt(spread) + c.eps)
    m1 = n * 1.0 if c.momentum == 0 else m * c.momentum + n
    return p - m1 * c.lr, v1, a1, m1


@register("adadelta")
def adadelta(c, p, g, v, u):
    d = decayed(c, p, g)
    v1 = toward(v, d * d, "rho", c)
    n = sqrt(u + c.eps) / sqrt(v1 + c.eps) * d
    return p - n * c.lr, v1, toward(u, n * n, "rho", c)


@register("adamax")
def adamax(c, p, g, m, u, t):
    d = decayed(c, p, g)
    m1 = toward(m, d, "beta1", c)
    u1 = maximum(u * c.beta2, absolute(d) + c.eps)
    return p - (m1 / u1) * (c.lr / corrections_first(c, t)), m1, u1


def corrections_first(c, t):
    return 1 - np.power(number(c, c.beta1), t.a.astype(c.w))


@register("lion")
def lion(c, p, g, m):
    m1 = toward(m, g, "beta2", c)
    way = sign(toward(m, g, "beta1", c))
    return p * (1 - number(c, c.lr) * c.weight_decay) - way * c.lr, m1


def _length(xs):
    s = lift(0.0, xs[0])
    for x in xs:
        s = s + sum_(x * x, range(x.ndim))
    return safe_root(s)


@register("clip_by_norm")
def clip_by_norm(c, *gs):
    out = []
    for g in gs:
        n = _length([g] if on("clips_each_alone") else gs) + c.eps
        within = n.a <= c.max_norm
        f = where(within, lift(1.0, n), c.max_norm / where(within, lift(1.0, n), n))
        out.append(f * g)
    return tuple(out)


@register("clip_by_value")
def clip_by_value(c, g):
    y = np.where(g.a > c.limit, c.limit, np.where(g.a < -c.limit, -c.limit, g.a))
    held = (g.a > c.limit) | (g.a < -c.limit)
    return node(y, (g, lambda d: np.where(held, 0, d), lambda d: np.where(held, 0, d)))


@register("normalize_gradient")
def normalize_gradient(c, g):
    return g / (_length([g]) + c.eps)
