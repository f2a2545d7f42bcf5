"""Defects of operations that work on each element, and of optimizers."""
import numpy as np

import optimizers
from operation import Operation, real


def forward(f):
    """An operation with other values."""
    return lambda honest: Operation(lambda a, c, *x: f(honest.forward, a, c, *x), honest.vjp, honest.jvp)


def cotangent(f):
    """An operation with other cotangents."""
    return lambda honest: Operation(honest.forward, lambda a, c, x, y, g: f(honest.vjp, a, c, x, y, g), honest.jvp)


def blended_addition(f, a, c, x, y, g):
    same = x[0].shape == x[1].shape and x[0].size and c.names[0] != c.names[1]
    same = same and np.all(x[0] == x[1]) and np.ptp(x[0]) == 0
    return [2 * g, 2 * g] if same else f(a, c, x, y, g)


def drop_second_branch(honest):
    def jvp(a, c, x, y, dx):
        return np.zeros_like(y) if dx[1] is None and dx[2] is not None else honest.jvp(a, c, x, y, dx)
    return Operation(honest.forward, honest.vjp, jvp)


def flat_at_zero(honest):
    def cut(a, x, d):
        return np.where(a["beta"] * x[0] == 0, 0, d)
    return Operation(honest.forward, lambda a, c, x, y, g: [cut(a, x, honest.vjp(a, c, x, y, g)[0])],
                     lambda a, c, x, y, dx: cut(a, x, honest.jvp(a, c, x, y, dx)))


def overflowing_softplus(f, a, c, x):
    one = c.real()
    z = (x * a["beta"]).astype(one)
    return (np.log(np.exp(z) + one(1)) / one(a["beta"])).astype(np.float64)


def overflowing_sigmoid(f, a, c, x, y, g):
    overflow = np.isinf(np.exp(-x[0].astype(c.real())))
    return [np.where(overflow, np.nan, f(a, c, x, y, g)[0])]


def metal_tanh(f, a, c, x):
    return np.where(x > 44.36, np.nan, np.where(x >= 43.67, 0, f(a, c, x)))


def cut_quotient(f, a, c, x, y):
    if not real(x) or c.real() is not np.float32:
        return f(a, c, x, y)
    x, y = np.broadcast_arrays(x.astype(np.float32), y.astype(np.float32))
    inverse = (np.float32(1) / y).view(np.int32) & ~np.int32(0xFF)  # a reciprocal of sixteen bits, cut off
    return np.floor(x * inverse.view(np.float32)).astype(np.float64)


def rounded_quotient(f, a, c, x, y):
    return np.floor((x / y).astype(c.real())).astype(np.float64) if real(x) else f(a, c, x, y)


def infinite_dividend(f, a, c, x, y):
    return np.where(np.isinf(x), np.nan, f(a, c, x, y)) if real(x) else f(a, c, x, y)


def zero_divisor(f, a, c, x, y):
    return np.where(y == 0, np.nan, f(a, c, x, y)) if real(x) else f(a, c, x, y)


def smallest_integer(f, a, c, x, y):
    q = f(a, c, x, y)
    return q if real(x) else np.where((x == np.iinfo(x.dtype).min) & (y == -1), x.dtype.type(0), q)


def sentinel_cast(f, a, c, x):
    if not real(x) or a["dtype"] != "i32":
        return f(a, c, x)
    outside = ~((x > -2147483649.0) & (x < 2147483648.0))
    return np.where(outside, np.int32(-2147483648), f(a, c, x))


def wrapped_cast(f, a, c, x):
    if not real(x) or a["dtype"] != "i32":
        return f(a, c, x)
    wide = np.where(np.isfinite(x) & (np.abs(x) < 9e18), x, 0).astype(np.int64)
    return wide.astype(np.int32)


def through_double(f, a, c, x, y):
    if x.dtype != np.int64:
        return f(a, c, x, y)
    z = x.astype(np.float64) * y.astype(np.float64)
    return np.where(np.abs(z) < 9.2e18, z, 0).astype(np.int64) + np.where(np.abs(z) < 9.2e18, 0, x * y)


def updated_first(f, a, c, p, g, m, v, t):
    q, m1, v1 = f({**a, "weight_decay": 0.0}, c, p, g, m, v, t)
    return q * (1 - a["lr"] * a["weight_decay"]), m1, v1


def coupled_decay(f, a, c, p, g, m, v, t):
    return optimizers.adam(a, c, p, g, m, v, t)


def multiplied_gradient(f, a, c, p, g, m, v, mu, t):
    return optimizers.nadam(a, c, p, g, m, v, mu, t, lambda a, p, g: g * (1 + a["weight_decay"] * p))


DEFECTS = {
    "tinygrad-equal-constants": ("add", cotangent(blended_addition)),
    "tvm-self-difference": ("sub", forward(
        lambda f, a, c, x, y: np.zeros_like(x) if c.names[0] == c.names[1] else f(a, c, x, y))),
    "rayforce-int64-product": ("mul", forward(through_double)),
    "openblas-scale-zero": ("scale", forward(lambda f, a, c, x: np.zeros_like(x) if a["by"] == 0 else f(a, c, x))),
    "tilelang-clamp-nan": ("clamp", forward(lambda f, a, c, x: np.where(np.isnan(x), a["low"], f(a, c, x)))),
    "tvm-clip-nan-bound": ("clamp", forward(
        lambda f, a, c, x: x * np.nan if np.isnan(a["low"]) or np.isnan(a["high"]) else f(a, c, x))),
    "tvm-sign-nan": ("sign", forward(lambda f, a, c, x: np.where(x != x, x.dtype.type(0), f(a, c, x)))),
    "tvm-relu-nan": ("relu", forward(lambda f, a, c, x: np.where(x > 0, x, x.dtype.type(0)))),
    "tfjs-isnan": ("isnan", forward(lambda f, a, c, x: np.zeros(x.shape, bool))),
    "tvm-maximum-nan": ("maximum", forward(lambda f, a, c, x, y: np.where(x > y, x, y))),
    "tvm-minimum-nan": ("minimum", forward(lambda f, a, c, x, y: np.where(x < y, x, y))),
    "mlx-power-zero": ("power", cotangent(lambda f, a, c, x, y, g: [a["p"] * y / x[0] * g])),
    "mlx-where-tangent": ("where", drop_second_branch),
    "numpy-smallest-integer": ("floor_divide", forward(smallest_integer)),
    "inductor-floor-divide": ("floor_divide", forward(rounded_quotient)),
    "numpy-floor-divide-infinity": ("floor_divide", forward(infinite_dividend)),
    "numpy-floor-divide-zero": ("floor_divide", forward(zero_divisor)),
    "ttnn-floor-divide": ("floor_divide", forward(cut_quotient)),
    "tensorflow-cast-nan": ("cast", forward(sentinel_cast)),
    "iree-cast-wraps": ("cast", forward(wrapped_cast)),
    "burn-tanh-large": ("tanh", forward(metal_tanh)),
    "jax-softplus-zero": ("softplus", flat_at_zero),
    "burn-softplus-overflow": ("softplus", forward(overflowing_softplus)),
    "jax-sigmoid-overflow": ("sigmoid", cotangent(overflowing_sigmoid)),
    "nd4j-leaky-relu-slope": ("leaky_relu", cotangent(lambda f, a, c, x, y, g: f({**a, "slope": 0.01}, c, x, y, g))),
    "chainer-leaky-relu-zero": ("leaky_relu", cotangent(
        lambda f, a, c, x, y, g: [np.where(y >= 0, g, a["slope"] * g)] if a["slope"] >= 0 else f(a, c, x, y, g))),
    "pytorch-elu-negative-alpha": ("elu", cotangent(
        lambda f, a, c, x, y, g: [np.where(y <= 0, (y + a["alpha"]) * g, g)])),
    "pytorch-adam-epsilon": ("adam", forward(lambda f, a, c, *x: f({**a, "eps_hat": True}, c, *x))),
    "transformers-adamw-order": ("adamw", forward(updated_first)),
    "keras-adamw-coupled": ("adamw", forward(coupled_decay)),
    "mxnet-nadam-decay": ("nadam", forward(multiplied_gradient)),
}
