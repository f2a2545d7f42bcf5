"""Optimizers, written with the operations of the tape, and schedules of the learning rate."""
import numpy as np

from core import WIDE, choose, constant, fresh, planted, total, unary
from elementwise import PI


def root(x):
    return unary(x, np.sqrt, lambda v, y: 0.5 / y)


def steps(t):
    """The step count of an optimizer."""
    n = int(t.array)
    if planted("step_count_as_byte"):
        n = n % 256
    if planted("step_count_saturates"):
        n = min(n, 32767)
    if planted("step_count_through_f32"):
        n = int(np.float32(n))
    return n


def decayed(a, p, g):
    if a["weight_decay"] == 0:
        return g
    return g + p * WIDE(a["weight_decay"])


def sgd(a, p, g, m, t):
    d, k = decayed(a, p, g), WIDE(a["momentum"])
    first = int(t.array) == 1
    if planted("sgd_dampens_first_step"):
        first = False
    if planted("sgd_first_by_zero_state"):
        first = not m.array.any()
    if first or k == 0:
        m1 = d
    elif planted("sgd_dampening_as_momentum"):
        m1 = m * k + d * (1 - k if a["dampening"] else 1)
    else:
        m1 = m * k + d * (1 - WIDE(a["dampening"]))
    if a["nesterov"]:
        step = g + m1 * k if planted("sgd_nesterov_without_decay") else d + m1 * k
    else:
        step = m1
    return [p - step * WIDE(a["lr"]), m1]


def moments(a, d, m, v):
    b1, b2 = WIDE(a["beta1"]), WIDE(a["beta2"])
    return m * b1 + d * (1 - b1), v * b2 + d * d * (1 - b2)


def corrected(a, m1, v1, t):
    """The quotient of corrected moments that Adam steps along."""
    n = steps(t)
    c1, c2 = 1 - WIDE(a["beta1"]) ** n, 1 - WIDE(a["beta2"]) ** n
    if planted("adam_no_second_correction"):
        c2 = WIDE(1)
    if planted("adam_correction_ends") and n > 1000:
        c1 = c2 = WIDE(1)
    eps = WIDE(a["eps"])
    if a["eps_hat"] and not planted("adam_eps_hat_ignored"):
        return m1 / (root(v1) + eps) * (np.sqrt(c2) / c1)
    if planted("adam_eps_in_root"):
        return (m1 / c1) / root(v1 / c2 + eps)
    return (m1 / c1) / (root(v1 / c2) + eps)


def adam(a, p, g, m, v, t):
    d = decayed(a, p, g)
    m1, v1 = moments(a, d, m, v)
    return [p - corrected(a, m1, v1, t) * WIDE(a["lr"]), m1, v1]


def adamw(a, p, g, m, v, t):
    m1, v1 = moments(a, g, m, v)
    lr, decay = WIDE(a["lr"]), WIDE(a["weight_decay"])
    step = corrected(a, m1, v1, t) * lr
    if planted("adamw_decay_not_by_lr"):
        return [p * (1 - decay) - step, m1, v1]
    if planted("adamw_decays_after_step"):
        return [(p - step) * (1 - lr * decay), m1, v1]
    return [p * (1 - lr * decay) - step, m1, v1]


def amsgrad(a, p, g, m, v, w, t):
    d = decayed(a, p, g)
    m1, v1 = moments(a, d, m, v)
    w1 = choose(w.array >= v1.array, w, v1)
    if planted("amsgrad_corrects_before_largest"):
        c2 = 1 - WIDE(a["beta2"]) ** steps(t)
        w1 = choose(w.array >= v1.array / c2, w, v1 / c2)
        return [p - corrected(a, m1, w1 * c2, t) * WIDE(a["lr"]), m1, v1, w1]
    return [p - corrected(a, m1, w1, t) * WIDE(a["lr"]), m1, v1, w1]


def adagrad(a, p, g, s, t):
    d = decayed(a, p, g)
    s1 = s + d * d
    n = steps(t) if planted("adagrad_decay_from_t") else steps(t) - 1
    lr = WIDE(a["lr"]) / (1 + n * WIDE(a["lr_decay"]))
    return [p - d / (root(s1) + WIDE(a["eps"])) * lr, s1]


def rmsprop(a, p, g, v, b, m):
    d, k = decayed(a, p, g), WIDE(a["alpha"])
    v1 = v * k + d * d * (1 - k)
    b1 = b * k + d * (1 - k) if a["centered"] or planted("rmsprop_average_always") else b
    spread = v1 - b1 * b1 if a["centered"] else v1
    if planted("rmsprop_eps_in_root"):
        n = d / root(spread + WIDE(a["eps"]))
    else:
        n = d / (root(spread) + WIDE(a["eps"]))
    if a["momentum"] == 0:
        m1 = m * 1 if planted("rmsprop_buffer_kept") else n
        return [p - n * WIDE(a["lr"]), v1, b1, m1]
    m1 = m * WIDE(a["momentum"]) + n
    return [p - m1 * WIDE(a["lr"]), v1, b1, m1]


def adamax(a, p, g, m, u, t):
    d, b1, b2 = decayed(a, p, g), WIDE(a["beta1"]), WIDE(a["beta2"])
    m1 = m * b1 + d * (1 - b1)
    size = unary(d, np.abs, lambda x, y: np.sign(x))
    left = u * b2
    if planted("adamax_eps_after_maximum"):
        u1 = choose(left.array > size.array, left, size)
        return [p - m1 / (u1 + WIDE(a["eps"])) * (WIDE(a["lr"]) / (1 - b1 ** steps(t))), m1, u1]
    right = size + WIDE(a["eps"])
    half = choose(left.array > right.array, left, right)
    tied = (left + right) * WIDE(0.5)
    u1 = choose(left.array == right.array, tied, half)
    u1 = choose(np.isnan(left.array), left, u1)
    return [p - m1 / u1 * (WIDE(a["lr"]) / (1 - b1 ** steps(t))), m1, u1]


def nadam(a, p, g, m, v, mu, t):
    d, n = decayed(a, p, g), steps(t)
    m1, v1 = moments(a, d, m, v)
    b1, b2, decay = WIDE(a["beta1"]), WIDE(a["beta2"]), WIDE(a["momentum_decay"])
    x = b1 * (1 - WIDE("0.5") * WIDE(0.96) ** (n * decay))
    y = b1 * (1 - WIDE("0.5") * WIDE(0.96) ** ((n + (0 if planted("nadam_next_momentum") else 1)) * decay))
    mu1 = mu * x
    step = d * ((1 - x) / (1 - mu1)) + m1 * (y / (1 - mu1 * y))
    return [p - step / (root(v1 / (1 - b2 ** n)) + WIDE(a["eps"])) * WIDE(a["lr"]), m1, v1, mu1]


def lion(a, p, g, m):
    b1, b2, lr = WIDE(a["beta1"]), WIDE(a["beta2"]), WIDE(a["lr"])
    m1 = m * b2 + g * (1 - b2)
    mixed = m1 if planted("lion_sign_of_new_state") else m * b1 + g * (1 - b1)
    step = fresh(np.sign(mixed.array), p.dtype)
    if planted("lion_sign_of_zero"):
        step = fresh(np.where(mixed.array >= 0, WIDE(1), WIDE(-1)), p.dtype)
    return [p * (1 - lr * WIDE(a["weight_decay"])) - step * lr, m1]


def adadelta(a, p, g, v, u):
    d, k, eps = decayed(a, p, g), WIDE(a["rho"]), WIDE(a["eps"])
    v1 = v * k + d * d * (1 - k)
    n = root(u + eps) / root(v1 + eps) * d
    if planted("adadelta_state_takes_lr"):
        n1 = n * WIDE(a["lr"])
        return [p - n1, v1, u * k + n1 * n1 * (1 - k)]
    return [p - n * WIDE(a["lr"]), v1, u * k + n * n * (1 - k)]


def clip_by_value(a, g):
    k = WIDE(a["limit"])
    inside = (lambda v: np.abs(v) < k) if planted("clip_by_value_slope_at_bounds") else (lambda v: ~(np.abs(v) > k))
    return unary(g, lambda v: np.where(v > k, k, np.where(v < -k, -k, v)), lambda v, y: np.where(inside(v), WIDE(1), WIDE(0)))


def clip_by_norm(a, *gs):
    """One factor for all gradients."""
    s = None
    for g in gs:
        part = total(g * g, range(g.rank))
        s = part if s is None or planted("clip_by_norm_of_last") else s + part
    if s is None:
        return []
    n = choose(s.array > 0, root(choose(s.array > 0, s, 1)), 0) if not np.isnan(s.array) else s
    n = n + WIDE(a["eps"])
    most = WIDE(a["max_norm"])
    one = fresh(np.asarray(1.0), n.dtype)
    f = choose(n.array <= most, one, one * most / choose(n.array <= most, one, n))
    if planted("clip_by_norm_factor_constant"):
        f = constant(f)
    return [g * f for g in gs]


def step_of(t):
    n = int(t.array)
    return n if planted("schedule_before_zero") else max(n, 0)


def scalar(a, y):
    return fresh(np.asarray(y, WIDE), a["dtype"])


def cosine(a, t):
    n, first, final = a["steps"], WIDE(a["initial"]), WIDE(a["final"])
    k = int(t.array)
    if planted("cosine_goes_on"):
        return scalar(a, final + (first - final) * ((1 + np.cos(PI * (WIDE(step_of(t)) / n))) / 2))
    return scalar(a, final if k >= n else final + (first - final) * ((1 + np.cos(PI * (WIDE(step_of(t)) / n))) / 2))


def linear(a, t):
    n, first, final = a["steps"], WIDE(a["initial"]), WIDE(a["final"])
    k = int(t.array)
    if planted("linear_schedule_in_f32_steps"):
        return scalar(a, final if k >= n else first + (final - first) * (WIDE(np.float32(step_of(t))) / n))
    return scalar(a, final if k >= n else first + (final - first) * (WIDE(step_of(t)) / n))


def staircase(a, t):
    every = a["every"]
    stairs = round(step_of(t) / every) if planted("staircase_rounds") else step_of(t) // every
    return scalar(a, WIDE(a["initial"]) * WIDE(a["gamma"]) ** stairs)


def multistep(a, t, milestones):
    reached = milestones.array < int(t.array) if planted("multistep_after_milestone") else milestones.array <= int(t.array)
    if planted("multistep_sorted"):
        return scalar(a, WIDE(a["initial"]) * WIDE(a["gamma"]) ** int(np.searchsorted(milestones.array, int(t.array), "right")))
    return scalar(a, WIDE(a["initial"]) * WIDE(a["gamma"]) ** int(reached.sum()))


def warmup(a, t, after):
    n, first, peak = a["steps"], WIDE(a["initial"]), WIDE(a["peak"])
    k = int(t.array)
    if k >= n + (1 if planted("warmup_one_longer") else 0):
        return after
    return fresh(np.asarray(first + (peak - first) * (WIDE(step_of(t)) / n)), after.dtype)


RULES = {"sgd": sgd, "adam": adam, "adamw": adamw, "amsgrad": amsgrad, "adagrad": adagrad, "rmsprop": rmsprop, "adamax": adamax,
         "nadam": nadam, "lion": lion, "adadelta": adadelta, "clip_by_value": clip_by_value, "clip_by_norm": clip_by_norm,
         "cosine_schedule": cosine, "linear_schedule": linear, "staircase_schedule": staircase, "multistep_schedule": multistep,
         "warmup_schedule": warmup,
         "exponential_schedule": lambda a, t: scalar(a, WIDE(a["initial"]) * WIDE(a["gamma"]) ** step_of(t))}
