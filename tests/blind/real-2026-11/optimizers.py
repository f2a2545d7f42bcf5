"""Steps of optimizers."""
import numpy as np

from operation import Operation


def step(a, p, m, v, t, hat):
    c1, c2 = 1 - a["beta1"] ** float(t), 1 - a["beta2"] ** float(t)
    if hat:
        return a["lr"] * np.sqrt(c2) / c1 * (m / (np.sqrt(v) + a["eps"]))
    return a["lr"] * ((m / c1) / (np.sqrt(v / c2) + a["eps"]))


def moments(a, d, m, v):
    return a["beta1"] * m + (1 - a["beta1"]) * d, a["beta2"] * v + (1 - a["beta2"]) * d * d


def adam(a, c, p, g, m, v, t):
    m1, v1 = moments(a, g + a["weight_decay"] * p, m, v)
    return p - step(a, p, m1, v1, t, a["eps_hat"]), m1, v1


def adamw(a, c, p, g, m, v, t):
    m1, v1 = moments(a, g, m, v)
    return p * (1 - a["lr"] * a["weight_decay"]) - step(a, p, m1, v1, t, a["eps_hat"]), m1, v1


def nadam(a, c, p, g, m, v, mu, t, decayed=lambda a, p, g: g + a["weight_decay"] * p):
    d = decayed(a, p, g)
    m1, v1 = moments(a, d, m, v)
    now = a["beta1"] * (1 - 0.5 * 0.96 ** (float(t) * a["momentum_decay"]))
    after = a["beta1"] * (1 - 0.5 * 0.96 ** ((float(t) + 1) * a["momentum_decay"]))
    mu1 = mu * now
    n = (1 - now) / (1 - mu1) * d + after / (1 - mu1 * after) * m1
    return p - a["lr"] * (n / (np.sqrt(v1 / (1 - a["beta2"] ** float(t))) + a["eps"])), m1, v1, mu1


TABLE = {"adam": Operation(adam), "adamw": Operation(adamw), "nadam": Operation(nadam)}
