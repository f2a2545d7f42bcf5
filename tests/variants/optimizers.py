"""Optimizer steps."""
import numpy as np

from arithmetic import Variant, need


def decayed(k, a, p, g):
    return g + k.c(a["weight_decay"]) * p if a.get("weight_decay") else g


def lerp(k, m, d, w):
    """torch.lerp: by the nearer end."""
    return m + k.c(w) * (d - m) if w < 0.5 else d - (d - m) * k.c(1 - w)


def adam_torch(k, a, p, g, m, v, t, decoupled=False, v_largest=None):
    need(not a["eps_hat"] and t > 0, "attribute", "eps after the correction")
    t, b1, b2 = int(t), a["beta1"], a["beta2"]
    if decoupled:
        p, d = p * k.c(1 - a["lr"] * a["weight_decay"]), g
    else:
        d = decayed(k, a, p, g)
    m1 = lerp(k, m, d, 1 - b1)
    v1 = v * k.c(b2) + k.c(1 - b2) * d * d
    most = v1 if v_largest is None else np.maximum(v_largest, v1)
    step, root = a["lr"] / (1 - b1 ** t), (1 - b2 ** t) ** 0.5
    q = p + k.c(-step) * m1 / (np.sqrt(most) / k.c(root) + k.c(a["eps"]))
    return (q, m1, v1) if v_largest is None else (q, m1, v1, most)


def adam_fused(k, a, p, g, m, v, t):
    need(not a["eps_hat"] and t > 0, "attribute", "eps after the correction")
    t, b1, b2 = int(t), a["beta1"], a["beta2"]
    d = decayed(k, a, p, g)
    m1 = k.c(b1) * m + k.c(1 - b1) * d
    v1 = k.c(b2) * v + k.c(1 - b2) * d * d
    denominator = np.sqrt(v1) / k.c((1 - b2 ** t) ** 0.5) + k.c(a["eps"])
    return p - k.c(a["lr"] / (1 - b1 ** t)) * m1 / denominator, m1, v1


def adam_keras(k, a, p, g, m, v, t):
    need(a["eps_hat"] and t > 0, "attribute", "eps before the correction")
    t, b1, b2 = int(t), a["beta1"], a["beta2"]
    d = decayed(k, a, p, g)
    m1 = m + (d - m) * k.c(1 - b1)
    v1 = v + (d * d - v) * k.c(1 - b2)
    alpha = a["lr"] * (1 - b2 ** t) ** 0.5 / (1 - b1 ** t)
    return p - m1 * k.c(alpha) / (np.sqrt(v1) + k.c(a["eps"])), m1, v1


def adam_optax(k, a, p, g, m, v, t):
    need(not a["eps_hat"] and t > 0, "attribute", "eps after the correction")
    t, b1, b2 = int(t), a["beta1"], a["beta2"]
    d = decayed(k, a, p, g)
    m1 = k.c(1 - b1) * d + k.c(b1) * m
    v1 = k.c(1 - b2) * (d * d) + k.c(b2) * v
    update = (m1 / k.c(1 - b1 ** t)) / (np.sqrt(v1 / k.c(1 - b2 ** t)) + k.c(a["eps"]))
    return p + k.c(-a["lr"]) * update, m1, v1


def nadam_torch(k, a, p, g, m, v, mu, t):
    need(t > 0, "attribute", "counted from 1")
    b1, b2, n = a["beta1"], a["beta2"], int(t)
    d = decayed(k, a, p, g)
    now = b1 * (1 - 0.5 * 0.96 ** (n * a["momentum_decay"]))
    then = b1 * (1 - 0.5 * 0.96 ** ((n + 1) * a["momentum_decay"]))
    product = float(mu) * now
    m1 = lerp(k, m, d, 1 - b1)
    v1 = v * k.c(b2) + k.c(1 - b2) * d * d
    s = np.sqrt(v1 / k.c(1 - b2 ** n)) + k.c(a["eps"])
    q = p + k.c(-a["lr"] * (1 - now) / (1 - product)) * (d / s)
    return q + k.c(-a["lr"] * then / (1 - product * then)) * (m1 / s), m1, v1, k.T(product)


def sgd_torch(k, a, p, g, m, t):
    d = decayed(k, a, p, g)
    first = int(t) == 1
    if not a["momentum"]:
        return p + d * k.c(-a["lr"]), d
    m1 = d if first else m * k.c(a["momentum"]) + d * k.c(1 - a["dampening"])
    return p + (d + k.c(a["momentum"]) * m1 if a["nesterov"] else m1) * k.c(-a["lr"]), m1


def rmsprop_torch(k, a, p, g, v, average, m):
    d = decayed(k, a, p, g)
    v1 = v * k.c(a["alpha"]) + k.c(1 - a["alpha"]) * d * d
    a1 = lerp(k, average, d, 1 - a["alpha"]) if a["centered"] else average
    root = np.sqrt(v1 - a1 * a1 if a["centered"] else v1) + k.c(a["eps"])
    if not a["momentum"]:
        return p + k.c(-a["lr"]) * d / root, v1, a1, d / root
    m1 = m * k.c(a["momentum"]) + d / root
    return p + m1 * k.c(-a["lr"]), v1, a1, m1


def rmsprop_tensorflow(k, a, p, g, v, average, m):
    need(not a["centered"], "attribute", "not centered")
    d = decayed(k, a, p, g)
    v1 = v + (d * d - v) * k.c(1 - a["alpha"])
    n = d * (k.c(1) / (np.sqrt(v1) + k.c(a["eps"])))
    m1 = m * k.c(a["momentum"]) + n if a["momentum"] else n
    return p - k.c(a["lr"]) * m1, v1, average, m1


def adagrad_torch(k, a, p, g, s, t):
    d = decayed(k, a, p, g)
    s1 = s + d * d
    return p + k.c(-a["lr"] / (1 + (int(t) - 1) * a["lr_decay"])) * (d / (np.sqrt(s1) + k.c(a["eps"]))), s1


def adagrad_reciprocal(k, a, p, g, s, t):
    d = decayed(k, a, p, g)
    s1 = s + d * d
    return p - (k.c(a["lr"] / (1 + (int(t) - 1) * a["lr_decay"])) * d) * (k.c(1) / (np.sqrt(s1) + k.c(a["eps"]))), s1


def adadelta_torch(k, a, p, g, v, u):
    d = decayed(k, a, p, g)
    v1 = v * k.c(a["rho"]) + k.c(1 - a["rho"]) * d * d
    n = np.sqrt(u + k.c(a["eps"])) / np.sqrt(v1 + k.c(a["eps"])) * d
    return p + k.c(-a["lr"]) * n, v1, u * k.c(a["rho"]) + k.c(1 - a["rho"]) * n * n


def adadelta_tensorflow(k, a, p, g, v, u):
    d = decayed(k, a, p, g)
    v1 = v * k.c(a["rho"]) + (d * d) * k.c(1 - a["rho"])
    n = (np.sqrt(u + k.c(a["eps"])) * (k.c(1) / np.sqrt(v1 + k.c(a["eps"])))) * d
    return p - n * k.c(a["lr"]), v1, u * k.c(a["rho"]) + (n * n) * k.c(1 - a["rho"])


def adamax_torch(k, a, p, g, m, u, t):
    need(t > 0, "attribute", "counted from 1")
    d = decayed(k, a, p, g)
    m1 = lerp(k, m, d, 1 - a["beta1"])
    u1 = np.maximum(u * k.c(a["beta2"]), np.abs(d) + k.c(a["eps"]))
    return p + k.c(-a["lr"] / (1 - a["beta1"] ** int(t))) * (m1 / u1), m1, u1


def lion_optax(k, a, p, g, m):
    step = np.sign(k.c(1 - a["beta1"]) * g + k.c(a["beta1"]) * m)
    return p - k.c(a["lr"]) * (step + k.c(a["weight_decay"]) * p), k.c(1 - a["beta2"]) * g + k.c(a["beta2"]) * m


def lion_paper(k, a, p, g, m):
    q = p * k.c(1 - a["lr"] * a["weight_decay"])
    return q - k.c(a["lr"]) * np.sign(m * k.c(a["beta1"]) + g * k.c(1 - a["beta1"])), m * k.c(a["beta2"]) + g * k.c(1 - a["beta2"])


def clip_torch(k, a, *g):
    need(a["eps"] >= 0 and a["max_norm"] > 0, "attribute", "a norm to clip to")
    norms = np.array([np.sqrt(k.T(np.sum(x * x))) for x in g], k.T)
    n = np.sqrt(k.T(np.sum(norms * norms))) + k.c(a["eps"])
    return [x * np.minimum(k.c(a["max_norm"]) / n, k.c(1)) for x in g]


def clip_tensorflow(k, a, *g):
    need(a["eps"] >= 0 and a["max_norm"] > 0, "attribute", "a norm to clip to")
    n = np.sqrt(k.T(sum((k.T(np.sum(x * x)) for x in g), k.c(0)))) + k.c(a["eps"])
    f = k.c(a["max_norm"]) * np.minimum(k.c(1) / n, k.c(1) / k.c(a["max_norm"]))
    return [x * f for x in g]


def normalize_torch(k, a, g):
    return g / (np.sqrt(k.T(np.sum(g * g))) + k.c(a["eps"]))


def normalize_reciprocal(k, a, g):
    return g * (k.c(1) / (np.sqrt(k.T(np.sum(g * g))) + k.c(a["eps"])))


VARIANTS = [
    Variant("adam_torch", "adam", "PyTorch optim/adam.py _single_tensor_adam: lerp_, addcmul_, addcdiv_ with lr/bc1", adam_torch),
    Variant("adam_fused", "adam", "PyTorch fused_adam_utils.cuh adam_math", adam_fused),
    Variant("adam_keras", "adam", "Keras optimizers/adam.py, TensorFlow ApplyAdam: alpha_t, eps before the correction", adam_keras),
    Variant("adam_optax", "adam", "optax scale_by_adam, scale_by_learning_rate", adam_optax),
    Variant("adamw_torch", "adamw", "PyTorch optim/adamw.py: p.mul_(1 - lr*weight_decay)", lambda k, a, *x: adam_torch(k, a, *x, decoupled=True)),
    Variant("amsgrad_torch", "amsgrad", "PyTorch optim/adam.py with amsgrad",
            lambda k, a, p, g, m, v, w, t: adam_torch(k, a, p, g, m, v, t, v_largest=w)),
    Variant("nadam_torch", "nadam", "PyTorch optim/nadam.py _single_tensor_nadam: two addcdiv_", nadam_torch),
    Variant("sgd_torch", "sgd", "PyTorch optim/sgd.py _single_tensor_sgd", sgd_torch),
    Variant("rmsprop_torch", "rmsprop", "PyTorch optim/rmsprop.py: lerp_, addcmul(value=-1), addcdiv_", rmsprop_torch),
    Variant("rmsprop_tensorflow", "rmsprop", "TensorFlow ApplyRMSProp's moments: v + (g*g - v)*(1 - rho)", rmsprop_tensorflow),
    Variant("adagrad_torch", "adagrad", "PyTorch optim/adagrad.py: addcdiv_ with clr", adagrad_torch),
    Variant("adagrad_reciprocal", "adagrad", "textbook, times 1/(root + eps)", adagrad_reciprocal),
    Variant("adadelta_torch", "adadelta", "PyTorch optim/adadelta.py: std = sqrt, delta = sqrt/std*g", adadelta_torch),
    Variant("adadelta_tensorflow", "adadelta", "TensorFlow ApplyAdadelta: sqrt(u + eps)*rsqrt(v + eps)*g", adadelta_tensorflow),
    Variant("adamax_torch", "adamax", "PyTorch optim/adamax.py: clr, addcdiv_", adamax_torch),
    Variant("lion_optax", "lion", "optax lion: p - lr*(sign + weight_decay*p)", lion_optax),
    Variant("lion_paper", "lion", "google/automl lion_pytorch.py", lion_paper),
    Variant("clip_torch", "clip_by_norm", "PyTorch utils/clip_grad.py: the norm of norms, max_norm/norm clamped to 1", clip_torch),
    Variant("clip_tensorflow", "clip_by_norm", "TensorFlow clip_ops.py clip_by_global_norm: clip*min(1/norm, 1/clip)", clip_tensorflow),
    Variant("normalize_torch", "normalize_gradient", "g/(norm + eps)", normalize_torch),
    Variant("normalize_reciprocal", "normalize_gradient", "textbook, times 1/(norm + eps)", normalize_reciprocal),
]
