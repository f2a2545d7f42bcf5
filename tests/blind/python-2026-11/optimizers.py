"""One step of an optimizer: the new parameter and the new state."""
import numpy as np

from core import CACHE, planted


def root(t, v):
    return t.one("sqrt", {}, v)


def squared(t, v):
    return t.one("square", {}, v)


def decayed(a, p, g):
    return g + a["weight_decay"] * p


def sgd(t, a, p, g, m, step):
    d = decayed(a, p, g)
    first = step.array == 1 and not planted("sgd_first_step_dampened")
    mu = a["momentum"]
    m1 = d + 0.0 if first or mu == 0 else mu * m + (1 - a["dampening"]) * d
    if a["nesterov"]:
        return p - a["lr"] * (d + mu * (m if planted("sgd_nesterov_old_momentum") else m1)), m1
    return p - a["lr"] * m1, m1


def corrections(a, step):
    n = np.float64(int(step.array))
    if planted("adam_corrections_by_step"):
        return CACHE.setdefault(("adam", n), (1 - np.float64(a["beta1"]) ** n, 1 - np.float64(a["beta2"]) ** n))
    if planted("adam_step_in_f32"):
        return (float(1 - np.float32(a["beta1"]) ** np.float32(n)), float(1 - np.float32(a["beta2"]) ** np.float32(n)))
    return 1 - np.float64(a["beta1"]) ** n, 1 - np.float64(a["beta2"]) ** n


def moments(t, a, d, m, v):
    return a["beta1"] * m + (1 - a["beta1"]) * d, a["beta2"] * v + (1 - a["beta2"]) * squared(t, d)


def move(t, a, m1, v1, c1, c2):
    if a["eps_hat"] and not planted("adam_eps_hat_ignored"):
        return (a["lr"] * np.sqrt(c2) / c1) * (m1 / (root(t, v1) + a["eps"]))
    return a["lr"] * ((m1 / c1) / (root(t, v1 / c2) + a["eps"]))


def adam(t, a, p, g, m, v, step):
    m1, v1 = moments(t, a, decayed(a, p, g), m, v)
    return p - move(t, a, m1, v1, *corrections(a, step)), m1, v1


def adamw(t, a, p, g, m, v, step):
    m1, v1 = moments(t, a, g, m, v)
    shrunk = p * (1 - (1.0 if planted("adamw_decay_without_rate") else a["lr"]) * a["weight_decay"])
    return shrunk - move(t, a, m1, v1, *corrections(a, step)), m1, v1


def amsgrad(t, a, p, g, m, v, w, step):
    m1, v1 = moments(t, a, decayed(a, p, g), m, v)
    c1, c2 = corrections(a, step)
    if planted("amsgrad_maximum_corrected"):
        w1 = t.one("maximum", {}, w, v1 / c2)
        return p - move(t, a, m1, w1, c1, 1.0), m1, v1, w1
    w1 = t.one("maximum", {}, w, v1)
    return p - move(t, a, m1, w1, c1, c2), m1, v1, w1


def adagrad(t, a, p, g, s, step):
    d = decayed(a, p, g)
    s1 = s + squared(t, d)
    n = int(step.array) - (0 if planted("adagrad_decay_step") else 1)
    return p - (a["lr"] / (1 + np.float64(n) * a["lr_decay"])) * (d / (root(t, s1) + a["eps"])), s1


def rmsprop(t, a, p, g, v, mean, m):
    d = decayed(a, p, g)
    keep = a["alpha"]
    v1 = keep * v + (1 - keep) * squared(t, d)
    a1 = keep * mean + (1 - keep) * d if a["centered"] else mean + 0.0
    seen = v1 - squared(t, a1) if a["centered"] else v1
    n = d / (root(t, seen + a["eps"]) if planted("rmsprop_eps_inside") else root(t, seen) + a["eps"])
    m1 = n + 0.0 if a["momentum"] == 0 else a["momentum"] * m + n
    return p - a["lr"] * m1, v1, a1, m1


def lion(t, a, p, g, m):
    first, second = a["beta1"], a["beta2"]
    if planted("lion_betas_swapped"):
        first, second = second, first
    step = t.one("sign", {}, first * m + (1 - first) * g)
    return p * (1 - a["lr"] * a["weight_decay"]) - a["lr"] * step, second * m + (1 - second) * g


def clip_by_norm(t, a, *g):
    squares = [np.sum(v.array * v.array) for v in g]
    found = []
    for v, own in zip(g, squares):
        s = own if planted("clip_by_norm_each") else sum(squares)
        n = np.sqrt(s) + a["eps"]
        found.append(v * (1.0 if n <= a["max_norm"] else a["max_norm"] / n))
    return tuple(found)


RULES = {"sgd": sgd, "adam": adam, "adamw": adamw, "amsgrad": amsgrad, "adagrad": adagrad, "rmsprop": rmsprop, "lion": lion,
         "clip_by_norm": clip_by_norm}
