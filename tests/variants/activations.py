"""Activations."""
import numpy as np

from arithmetic import Variant


def sigmoid(k, x):
    z = k.exp(-np.abs(x))
    return np.where(x >= 0, k.c(1) / (k.c(1) + z), z / (k.c(1) + z))


def plain(k, x):
    return k.c(1) / (k.c(1) + k.exp(-x))


def sigmoid_onednn(k, a, x):
    z = k.exp(-np.abs(x))
    y = z / (z + k.c(1))
    return np.where(x > 0, k.c(1) - y, y)


def gelu(inner):
    """x*Phi(x), exactly or by tanh."""
    return lambda k, a, x: inner[a["approximate"]](k, x)


def gelu_torch_none(k, x):
    return x * k.c(0.5) * (k.c(1) + k.erf(x * k.c(np.sqrt(0.5))))


def gelu_torch_tanh(k, x):
    return k.c(0.5) * x * (k.c(1) + k.tanh(k.c(np.sqrt(2 / np.pi)) * (x + k.c(0.044715) * (x * x * x))))


def gelu_torch_vjp(k, a, x, y, g):
    x = x[0]
    if a["approximate"] == "none":
        cdf = k.c(0.5) * (k.c(1) + k.erf(x * k.c(np.sqrt(0.5))))
        pdf = k.exp(k.c(-0.5) * x * x) * k.c(np.sqrt(0.5) * (2 / np.sqrt(np.pi)) * 0.5)
        return [g * (cdf + x * pdf)]
    beta, kappa = k.c(np.sqrt(2 / np.pi)), k.c(0.044715)
    square = x * x
    t = k.tanh(beta * (x + kappa * (square * x)))
    left, right = k.c(0.5) * x, k.c(1) + t
    return [g * (k.c(0.5) * right + left * (k.c(1) - t * t) * (beta * (k.c(1) + k.c(3) * kappa * square)))]


def gelu_jax_none(k, x):
    return k.c(0.5) * x * k.erfc(-x / k.c(np.sqrt(2)))


def gelu_jax_tanh(k, x):
    return x * (k.c(0.5) * (k.c(1) + k.tanh(k.c(np.sqrt(2 / np.pi)) * (x + k.c(0.044715) * (x * x * x)))))


def silu_torch_vjp(k, a, x, y, g):
    s = sigmoid(k, x[0])
    return [g * (s * (k.c(1) + x[0] * (k.c(1) - s)))]


def silu_product_vjp(k, a, x, y, g):
    s = sigmoid(k, x[0])
    return [g * s + (g * x[0]) * (s * (k.c(1) - s))]


def silu_by_result_vjp(k, a, x, y, g):
    s = sigmoid(k, x[0])
    return [g * (y[0] + s * (k.c(1) - y[0]))]


def softplus_torch(k, a, x):
    beta = k.c(a["beta"])
    return np.where(x * beta > 20, x, k.log1p(k.exp(x * beta)) / beta)


def softplus_torch_vjp(k, a, x, y, g):
    z = k.exp(x[0] * k.c(a["beta"]))
    return [np.where(x[0] * k.c(a["beta"]) > 20, g, g * z / (z + k.c(1)))]


def logaddexp(k, x):
    return np.maximum(x, k.c(0)) + k.log1p(k.exp(-np.abs(x)))


def softplus_jax(k, a, x):
    z = k.c(a["beta"]) * x
    return logaddexp(k, z) / k.c(a["beta"])


def softplus_jax_vjp(k, a, x, y, g):
    z = k.c(a["beta"]) * x[0]
    return [g * k.exp(z - logaddexp(k, z))]


def softplus_tensorflow(k, a, x):
    z = k.c(a["beta"]) * x
    threshold = k.c(np.log(np.finfo(k.T).eps) + 2)
    y = np.where(z > -threshold, z, np.where(z < threshold, k.exp(z), k.log1p(k.exp(z))))
    return y / k.c(a["beta"])


def softplus_tensorflow_vjp(k, a, x, y, g):
    return [g / (k.exp(-(k.c(a["beta"]) * x[0])) + k.c(1))]


def elu_torch(k, a, x):
    return np.where(x > 0, x, k.expm1(x) * k.c(a["alpha"]))


def elu_torch_vjp(k, a, x, y, g):
    return [np.where(x[0] > 0, g, g * k.c(a["alpha"]) * k.exp(x[0]))]


def elu_result_vjp(k, a, x, y, g):
    return [np.where(x[0] > 0, g, g * (y[0] + k.c(a["alpha"])))]


def elu_naive(k, a, x):
    return np.where(x > 0, x, k.c(a["alpha"]) * (k.exp(x) - k.c(1)))


UNDERFLOW = {f"{dtype} {mode}": "exp(-x) overflows where the result is subnormal" for dtype in ("f32", "f64") for mode in ("forward", "jvp", "vjp")}
VARIANTS = [
    Variant("sigmoid_torch", "sigmoid", "PyTorch UnaryOpsKernel.cpp sigmoid_kernel: 1/(1 + exp(-x)); sigmoid_backward: g*(1 - y)*y",
            lambda k, a, x: plain(k, x), lambda k, a, x, y, g: [g * (k.c(1) - y[0]) * y[0]],
            lambda k, a, x, y, d: [d[0] * (k.c(1) - y[0]) * y[0]], loses=UNDERFLOW),
    Variant("sigmoid_jax", "sigmoid", "JAX lax.logistic_p: g * ans * (1 - ans)", lambda k, a, x: sigmoid(k, x),
            lambda k, a, x, y, g: [g * (y[0] * (k.c(1) - y[0]))], lambda k, a, x, y, d: [d[0] * (y[0] * (k.c(1) - y[0]))]),
    Variant("sigmoid_tanh", "sigmoid", "XLA LogisticExpander kTanh: 0.5*tanh(0.5*x) + 0.5",
            lambda k, a, x: k.c(0.5) * k.tanh(k.c(0.5) * x) + k.c(0.5),
            loses={"f32 forward": "cancels below 0", "f64 forward": "cancels below 0"}),
    Variant("sigmoid_onednn", "sigmoid", "oneDNN jit_uni_eltwise_injector logistic_compute_vector_fwd: e/(e + 1) of -|x|, 1 - y above 0",
            sigmoid_onednn, lambda k, a, x, y, g: [g * (y[0] * (k.c(1) - y[0]))]),
    Variant("sigmoid_stable", "sigmoid", "textbook, by the sign of x; Theano's grad g*y*(1 - y)", lambda k, a, x: sigmoid(k, x),
            lambda k, a, x, y, g: [g * y[0] * (k.c(1) - y[0])]),
    Variant("silu_torch", "silu", "PyTorch Activation.cpp silu_kernel: x/(1 + exp(-x)); silu_backward", lambda k, a, x: x / (k.c(1) + k.exp(-x)),
            silu_torch_vjp, loses=UNDERFLOW),
    Variant("silu_jax", "silu", "jax.nn.silu: x*sigmoid(x), differentiated as a product", lambda k, a, x: x * sigmoid(k, x), silu_product_vjp),
    Variant("silu_keras", "silu", "TensorFlow nn_impl.py swish grad: s*(1 + x*(1 - s))", lambda k, a, x: x * sigmoid(k, x), silu_torch_vjp),
    Variant("silu_by_result", "silu", "Paddle SwishGradFunctor: y + s*(1 - y)", lambda k, a, x: x * sigmoid(k, x), silu_by_result_vjp),
    Variant("gelu_torch", "gelu", "PyTorch Activation.cpp GeluKernelImpl, GeluBackwardKernelImpl",
            gelu({"none": gelu_torch_none, "tanh": gelu_torch_tanh}), gelu_torch_vjp),
    Variant("gelu_jax", "gelu", "jax.nn.gelu: erfc; tanh", gelu({"none": gelu_jax_none, "tanh": gelu_jax_tanh})),
    Variant("softplus_torch", "softplus", "PyTorch Activation.cpp softplus_kernel: threshold 20", softplus_torch, softplus_torch_vjp,
            loses={"f64 forward": "beyond the threshold of 20 log1p(exp(-x)) is left out", "f64 vjp": "beyond the threshold of 20 the slope is 1"}),
    Variant("softplus_jax", "softplus", "jax.nn.softplus: logaddexp(x, 0); its jvp: t*exp(x - out)", softplus_jax, softplus_jax_vjp,
            loses={"f32 vjp": "the rounding of the logarithm in the exponent", "f64 vjp": "the rounding of the logarithm in the exponent"}),
    Variant("softplus_tensorflow", "softplus", "TensorFlow softplus_op.h: thresholds by eps; SoftplusGrad: g/(exp(-x) + 1)",
            softplus_tensorflow, softplus_tensorflow_vjp,
            loses={"f32 forward": "below log(eps) + 2 log1p is left out", "f64 forward": "below log(eps) + 2 log1p is left out",
                   "f32 vjp": UNDERFLOW["f32 vjp"], "f64 vjp": UNDERFLOW["f64 vjp"]}),
    Variant("elu_torch", "elu", "PyTorch Elu.h: expm1; elu_backward: g*alpha*exp(x)", elu_torch, elu_torch_vjp),
    Variant("elu_tensorflow", "elu", "TensorFlow relu_op_functor.h EluGrad: g*(y + 1)", elu_torch, elu_result_vjp),
    Variant("elu_naive", "elu", "PyTorch before 2.0 vectorized: (exp(x) - 1)*alpha, a part of the definition", elu_naive),
    Variant("leaky_relu_tensorflow", "leaky_relu", "TensorFlow relu_op_functor.h LeakyRelu: max(x, alpha*x)",
            lambda k, a, x: np.where(x > 0, x, k.c(a["slope"]) * x), lambda k, a, x, y, g: [np.where(x[0] > 0, g, g * k.c(a["slope"]))]),
    Variant("relu_max", "relu", "PyTorch clamp_min(x, 0)", lambda k, a, x: np.maximum(x, k.c(0)),
            lambda k, a, x, y, g: [np.where(y[0] <= 0, k.c(0), g)]),
    Variant("sat01_clip", "sat01", "Keras hard_sigmoid's clip", lambda k, a, x: np.minimum(np.maximum(x, k.c(0)), k.c(1))),
]
