"""Optimizers as functions: parameter, gradient and state in, parameter and state out; t is 1 at the first step."""
from quarry import build as a
from quarry.build import sqrt, to, total, where
from quarry.lowering.reductions import safe_root
from quarry.lower import OPTIONAL, operation
from quarry.switch import defect


def decayed(at, p, g):
    return g + at.weight_decay * p


def average(beta, old, new):
    return beta * old + (1.0 - beta) * new



def bias_correction(beta, t):
    return 1.0 - a.power(a.lift(beta, t.dtype), t)


def moments(at, d, m, v, t):
    """The two averages, and what takes their bias towards 0 away."""
    t = to(t, d.dtype)
    return (average(at.beta1, m, d), average(at.beta2, v, d * d),
            bias_correction(at.beta1, t),
            bias_correction(at.beta1 if defect("second_correction_by_beta1") else at.beta2, t))


def adam_step(at, m, v, c1, c2):
    if at.eps_hat:
        return at.lr * (sqrt(c2)) / c1 * (m / (sqrt(v) + at.eps))
    return at.lr * ((m / c1) / (sqrt(v / c2) + at.eps))


ADAM = {"lr": OPTIONAL, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}


@operation(lr=OPTIONAL, momentum=0.0, dampening=0.0, nesterov=False, weight_decay=0.0)
def sgd(at, p, g, m, t):
    d = decayed(at, p, g)
    moved = at.momentum * m + (1.0 - at.dampening) * d
    first = a.eq(to(t, m.dtype), 1)
    if isinstance(at.momentum, a.Node):
        first = a.either(first, a.eq(at.momentum, 0))
        m1 = where(first, d, moved)
    else:
        m1 = d if at.momentum == 0 else where(first, d, moved)
    ahead = d
    if defect("sgd_nesterov_reads_old_momentum"):
        return [p - at.lr * (ahead + at.momentum * m if at.nesterov else m1), m1]
    return [p - at.lr * (ahead + at.momentum * m1 if at.nesterov else m1), m1]


@operation(**ADAM, eps_hat=False)
def adam(at, p, g, m, v, t):
    m1, v1, c1, c2 = moments(at, decayed(at, p, g), m, v, t)
    return [p - adam_step(at, m1, v1, c1, c2), m1, v1]


@operation(**(ADAM | {"weight_decay": 0.01}), eps_hat=False)
def adamw(at, p, g, m, v, t):
    m1, v1, c1, c2 = moments(at, g, m, v, t)
    decay = at.weight_decay if defect("adamw_decay_without_rate") else at.lr * at.weight_decay
    return [p * (1.0 - decay) - adam_step(at, m1, v1, c1, c2), m1, v1]


@operation(**ADAM, eps_hat=False)
def amsgrad(at, p, g, m, v, w, t):
    m1, v1, c1, c2 = moments(at, decayed(at, p, g), m, v, t)
    w1 = a.maximum(w, v1)
    return [p - adam_step(at, m1, w if defect("amsgrad_divides_by_old_maximum") else w1, c1, c2), m1, v1, w1]


@operation(**ADAM, momentum_decay=4e-3)
def nadam(at, p, g, m, v, mu, t):
    d = decayed(at, p, g)
    m1, v1, _, c2 = moments(at, d, m, v, t)
    if defect("nadam_second_moment_without_decay"):
        v1 = average(at.beta2, v, g * g)
    t = to(t, d.dtype)
    base = a.lift(0.96, d.dtype)
    now = at.beta1 * (1.0 - 0.5 * a.power(base, t * at.momentum_decay))
    after = at.beta1 * (1.0 - 0.5 * a.power(base, (t + 1.0) * at.momentum_decay))
    mu1 = mu * now
    n = (1.0 - now) / (1.0 - mu1) * d + after / (1.0 - mu1 * after) * m1
    return [p - at.lr * (n / (sqrt(v1 / c2) + at.eps)), m1, v1, mu1]


@operation(**ADAM)
def radam(at, p, g, m, v, t):
    d = decayed(at, p, g)
    m1, v1, c1, _ = moments(at, d, m, v, t)
    t = to(t, d.dtype)
    beta2 = a.lift(at.beta2, d.dtype)
    k = a.expm1(t * a.log(beta2))
    top = 2.0 / (1.0 - beta2) - 1.0
    rho = top + 2.0 * t * ((1.0 + k) / k)
    ripe = rho > 5.0
    # Where the average is young the root of something negative is not asked.
    r = where(ripe, rho, top)
    r = sqrt((r - 4.0) / (top - 4.0) * ((r - 2.0) / (top - 2.0)) * (top / r))
    rectified = where(ripe, r * (sqrt(-k) / (sqrt(v1) + at.eps)), 1.0)
    if defect("radam_young_step_uncorrected"):
        return [p - at.lr * where(ripe, m1 / c1, m1) * rectified, m1, v1]
    return [p - at.lr * (m1 / c1) * rectified, m1, v1]


@operation(**ADAM)
def adamax(at, p, g, m, u, t):
    d = decayed(at, p, g)
    m1 = average(at.beta1, m, d)
    u1 = a.maximum((at.beta1 if defect("adamax_decays_by_beta1") else at.beta2) * u, a.magnitude(d) + at.eps)
    return [p - at.lr / bias_correction(at.beta1, to(t, d.dtype)) * (m1 / u1), m1, u1]


@operation(lr=OPTIONAL, beta1=0.9, beta2=0.99, weight_decay=0.0)
def lion(at, p, g, m):
    step = a.sign(average(at.beta1, m, g))
    return [p * (1.0 - at.lr * at.weight_decay) - at.lr * step,
            average(at.beta1 if defect("lion_keeps_what_it_stepped_by") else at.beta2, m, g)]


@operation(lr=OPTIONAL, lr_decay=0.0, eps=1e-10, weight_decay=0.0)
def adagrad(at, p, g, s, t):
    d = decayed(at, p, g)
    s1 = s + (g * g if defect("adagrad_sum_without_decay") else d * d)
    made = to(t, d.dtype) - 1.0
    rate = at.lr / (1.0 + made * at.lr_decay)
    return [p - rate * (d / (sqrt(s1) + at.eps)), s1]


@operation(lr=OPTIONAL, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False)
def rmsprop(at, p, g, v, mean, m):
    d = decayed(at, p, g)
    v1 = average(at.alpha, v, d * d)
    mean1 = average(at.alpha, mean, d) if at.centered else mean
    n = d / (sqrt(v1 - mean1 * mean1 if at.centered else v1) + at.eps)
    if isinstance(at.momentum, a.Node):
        m1 = where(a.eq(at.momentum, 0), n, at.momentum * m + n)
    else:
        m1 = n if at.momentum == 0 else at.momentum * m + n
    if defect("rmsprop_rate_inside_momentum") and not isinstance(at.momentum, a.Node) and at.momentum != 0:
        m1 = at.momentum * m + at.lr * n
        return [p - m1, v1, mean1, m1]
    return [p - at.lr * m1, v1, mean1, m1]


@operation(lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0)
def adadelta(at, p, g, v, u):
    d = decayed(at, p, g)
    v1 = average(at.rho, v, d * d)
    n = sqrt(u + at.eps) / sqrt((v if defect("adadelta_reads_old_average") else v1) + at.eps) * d
    return [p - at.lr * n, v1, average(at.rho, u, n * n)]


@operation(operands="packs", max_norm=OPTIONAL, eps=0.0)
def clip_by_norm(at, packs, *gs):
    s = total(gs[0] * gs[0], range(gs[0].rank))
    for g in gs[1:]:
        s = s + total(g * g, range(g.rank))
    n = safe_root(s) + at.eps
    if defect("clip_factor_constant"):
        n = a.detach(n)
    inside = n <= at.max_norm
    if defect("clip_factor_without_eps"):
        n = safe_root(s)
    factor = where(inside, 1.0, at.max_norm / where(inside, 1.0, n))
    return [factor * g for g in gs]


@operation(limit=OPTIONAL)
def clip_by_value(at, g):
    low = -at.limit
    if defect("clip_value_low_first"):
        return where(g < low, low, where(g > at.limit, at.limit, g))
    return where(g > at.limit, at.limit, where(g < low, low, g))


@operation(eps=1e-8)
def normalize_gradient(at, g):
    n = safe_root(total(g * g, range(g.rank)))
    if defect("gradient_norm_constant"):
        n = a.detach(n)
    return g / (n + at.eps)
