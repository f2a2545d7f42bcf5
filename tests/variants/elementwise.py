"""Arithmetic and functions, element by element."""
import numpy as np

from arithmetic import Variant, gathered, need


def quotient_torch(k, a, x, y, g):
    return gathered(g / x[1], x[0].shape), gathered(-g * ((x[0] / x[1]) / x[1]), x[1].shape)


def quotient_autograd(k, a, x, y, g):
    return gathered(g / x[1], x[0].shape), gathered(-g * x[0] / (x[1] * x[1]), x[1].shape)


def quotient_jax(k, a, x, y, g):
    return gathered(g / x[1], x[0].shape), gathered((-g * x[0]) * (k.c(1) / (x[1] * x[1])), x[1].shape)


def quotient_by_result(k, a, x, y, g):
    return gathered(g / x[1], x[0].shape), gathered(-(y[0] * (g / x[1])), x[1].shape)


def power_torch(k, a, x):
    p = a["p"]
    if p in (0, 1, 2, 3, -1, -2, 0.5, -0.5):
        return {0: lambda: k.ones(x.shape), 1: lambda: x, 2: lambda: x * x, 3: lambda: x * x * x, -1: lambda: k.c(1) / x,
                -2: lambda: k.c(1) / (x * x), 0.5: lambda: np.sqrt(x), -0.5: lambda: k.c(1) / np.sqrt(x)}[p]()
    return k.pow(x, k.c(p))


def power_torch_vjp(k, a, x, y, g):
    p = a["p"]
    return [k.zeros(g.shape) if p == 0 else g * (k.c(p) * power_torch(k, {"p": p - 1}, x[0]))]


def floor_divide_torch(k, a, x, y):
    need(x.dtype.kind == "f" and y.dtype.kind == "f", "dtype", "reals only")
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    quotient = np.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - k.c(1), quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > k.c(0.5), whole + k.c(1), whole)
    whole = np.where(quotient == 0, np.copysign(k.c(0), x / y), whole)
    return np.where(y == 0, x / y, whole)


def expm1_eigen(k, a, x):
    u = k.exp(x)
    less = u - k.c(1)
    return np.where(u == 1, x, np.where(less == -1, k.c(-1), np.where(np.isinf(u), u, less * (x / k.log(u)))))


def log1p_kahan(k, a, x):
    u = k.c(1) + x
    return np.where((u == 1) | np.isinf(u), x, k.log(u) * (x / (u - k.c(1))))


def one(f):
    return lambda k, a, x: f(k, x)


TANH = one(lambda k, x: k.tanh(x))
RSQRT = one(lambda k, x: k.c(1) / np.sqrt(x))
SQRT = one(lambda k, x: np.sqrt(x))
RECIPROCAL = one(lambda k, x: k.c(1) / x)
DIVIDE = lambda k, a, x, y: x / y


def pulled(f):
    """A cotangent g times a slope, both written into f."""
    return lambda k, a, x, y, g: [f(k, x[0], y[0], g)]


def pushed(f):
    return lambda k, a, x, y, dx: [f(k, x[0], y[0], dx[0])]


VARIANTS = [
    Variant("div_torch", "div", "PyTorch derivatives.yaml div.Tensor: div_tensor_other_grad", DIVIDE, quotient_torch),
    Variant("div_autograd", "div", "HIPS autograd numpy_vjps.py: -g*x/y**2", DIVIDE, quotient_autograd),
    Variant("div_jax", "div", "JAX lax.py div_p: mul(mul(neg(g), x), integer_pow(y, -2))", DIVIDE, quotient_jax),
    Variant("div_by_result", "div", "textbook, by the result: -y*(g/b)", DIVIDE, quotient_by_result),
    Variant("div_reciprocal", "div", "XLA xla_cpu_enable_fast_math: a*(1/b)", lambda k, a, x, y: x * (k.c(1) / y),
            loses={"f32 forward": "one rounding more than IEEE 754's quotient", "f64 forward": "one rounding more than IEEE 754's quotient"}),
    Variant("rsqrt_torch", "rsqrt", "PyTorch derivatives.yaml rsqrt: -0.5 * grad * result.pow(3)", RSQRT,
            pulled(lambda k, x, y, g: k.c(-0.5) * g * (y * y * y)), pushed(lambda k, x, y, d: k.c(-0.5) * d * (y * y * y))),
    Variant("rsqrt_jax", "rsqrt", "JAX lax.py rsqrt_p: mul(g, mul(-0.5, div(ans, x)))", RSQRT,
            pulled(lambda k, x, y, g: g * (k.c(-0.5) * (y / x))), pushed(lambda k, x, y, d: d * (k.c(-0.5) * (y / x)))),
    Variant("rsqrt_tensorflow", "rsqrt", "TensorFlow cwise_ops_gradients.h rsqrt_grad: grad * -0.5 * y*y*y", RSQRT,
            pulled(lambda k, x, y, g: (g * k.c(-0.5)) * y * (y * y))),
    Variant("sqrt_torch", "sqrt", "PyTorch derivatives.yaml sqrt: grad / (2 * result)", SQRT,
            pulled(lambda k, x, y, g: g / (k.c(2) * y)), pushed(lambda k, x, y, d: d / (k.c(2) * y))),
    Variant("sqrt_jax", "sqrt", "JAX lax.py sqrt_p: mul(g, div(0.5, ans))", SQRT,
            pulled(lambda k, x, y, g: g * (k.c(0.5) / y)), pushed(lambda k, x, y, d: d * (k.c(0.5) / y))),
    Variant("sqrt_tensorflow", "sqrt", "TensorFlow cwise_ops_gradients.h sqrt_grad: grad * 0.5 / y", SQRT,
            pulled(lambda k, x, y, g: g * k.c(0.5) / y)),
    Variant("reciprocal_torch", "reciprocal", "PyTorch derivatives.yaml reciprocal: -grad * (result * result)", RECIPROCAL,
            pulled(lambda k, x, y, g: -g * (y * y)), pushed(lambda k, x, y, d: -d * (y * y))),
    Variant("reciprocal_tensorflow", "reciprocal", "TensorFlow cwise_ops_gradients.h inverse_grad: -(grad * y) * y", RECIPROCAL,
            pulled(lambda k, x, y, g: -(g * y) * y)),
    Variant("square_torch", "square", "PyTorch derivatives.yaml pow with exponent 2: grad * (2 * self)", one(lambda k, x: x * x),
            pulled(lambda k, x, y, g: g * (k.c(2) * x)), pushed(lambda k, x, y, d: d * (k.c(2) * x))),
    Variant("tanh_torch", "tanh", "PyTorch BinaryOpsKernel tanh_backward: a * (1 - b*b)", TANH,
            pulled(lambda k, x, y, g: g * (k.c(1) - y * y))),
    Variant("tanh_jax", "tanh", "JAX lax.py tanh_p: mul(add(g, mul(g, ans)), sub(1, ans))", TANH,
            pulled(lambda k, x, y, g: (g + g * y) * (k.c(1) - y)), pushed(lambda k, x, y, d: (d + d * y) * (k.c(1) - y))),
    Variant("tanh_tfjs", "tanh", "TensorFlow.js WebGL Tanh: sign(x)*(1 - e)/(1 + e), e = exp(-2*|x|)",
            one(lambda k, x: (lambda e: np.sign(x) * (k.c(1) - e) / (k.c(1) + e))(k.exp(k.c(-2) * np.abs(x)))),
            loses={"f32 forward": "cancels near 0", "f64 forward": "cancels near 0"}),
    Variant("tan_torch", "tan", "PyTorch derivatives.yaml tan: grad * (1 + result.pow(2))", one(lambda k, x: k.tan(x)),
            pulled(lambda k, x, y, g: g * (k.c(1) + y * y))),
    Variant("tan_tensorflow", "tan", "TensorFlow math_grad.py _TanGrad: secx = 1/cos x; grad * secx*secx", one(lambda k, x: k.tan(x)),
            pulled(lambda k, x, y, g: g * ((k.c(1) / k.cos(x)) * (k.c(1) / k.cos(x))))),
    Variant("exp_result", "exp", "PyTorch derivatives.yaml exp: grad * result", one(lambda k, x: k.exp(x)),
            pulled(lambda k, x, y, g: g * y), pushed(lambda k, x, y, d: d * y)),
    Variant("expm1_torch", "expm1", "PyTorch derivatives.yaml expm1: grad * (result + 1)", one(lambda k, x: k.expm1(x)),
            pulled(lambda k, x, y, g: g * (y + k.c(1))), pushed(lambda k, x, y, d: d * (y + k.c(1)))),
    Variant("expm1_naive", "expm1", "TensorFlow.js WebGL Expm1: exp(x) - 1", one(lambda k, x: k.exp(x) - k.c(1)),
            loses={"f32 forward": "cancels near 0", "f64 forward": "cancels near 0"}),
    Variant("expm1_eigen", "expm1", "Eigen GenericPacketMathFunctions.h generic_expm1", expm1_eigen,
            loses={"f32 forward": "several roundings for one function", "f64 forward": "several roundings for one function"}),
    Variant("log1p_naive", "log1p", "TensorFlow.js WebGL Log1p: log(1 + x)", one(lambda k, x: k.log(k.c(1) + x)),
            loses={"f32 forward": "1 + x forgets x", "f64 forward": "1 + x forgets x"}),
    Variant("log1p_kahan", "log1p", "Eigen generic_log1p, after Kahan (HP-15C)", log1p_kahan,
            loses={"f32 forward": "several roundings for one function", "f64 forward": "several roundings for one function"}),
    Variant("exp2_by_exp", "exp2", "JAX before 0.4.2: exp(log(2)*x)", one(lambda k, x: k.exp(k.c(np.log(2)) * x)),
            loses={"f32 forward": "the product's rounding times x", "f64 forward": "the product's rounding times x"}),
    Variant("log2_by_log", "log2", "jax.numpy.log2: log(x) / log(2)", one(lambda k, x: k.log(x) / k.c(np.log(2))),
            loses={"f32 forward": "three roundings for one function", "f64 forward": "three roundings for one function"}),
    Variant("sinh_tfjs", "sinh", "TensorFlow.js WebGL Sinh: (e - 1/e)/2, e = exp(x)", one(lambda k, x: (k.exp(x) - k.c(1) / k.exp(x)) / k.c(2)),
            loses={"f32 forward": "cancels near 0", "f64 forward": "cancels near 0"}),
    Variant("cosh_tfjs", "cosh", "TensorFlow.js WebGL Cosh: (e + 1/e)/2, e = exp(-x)", one(lambda k, x: (k.exp(-x) + k.c(1) / k.exp(-x)) / k.c(2)),
            loses={"f32 forward": "three roundings, and overflows early", "f64 forward": "three roundings, and overflows early"}),
    Variant("pow_by_exp", "pow", "XLA fast-math pow: exp(y*log(x))",
            lambda k, a, x, y: np.where(y == 0, k.c(1), k.exp(y * k.log(x))),
            loses={"f32 forward": "the exponent's rounding times its size", "f64 forward": "the exponent's rounding times its size"}),
    Variant("power_torch", "power", "PyTorch PowKernel.cpp pow_tensor_scalar_optimized_kernel: products for small exponents", power_torch,
            power_torch_vjp),
    Variant("floor_divide_torch", "floor_divide", "PyTorch c10/util/generic_math.h div_floor_floating", floor_divide_torch),
    Variant("fma_apart", "fma", "NumPy a*b + c", lambda k, a, x, y, z: x * y + z),
    Variant("fma_fused", "fma", "fma of C", lambda k, a, x, y, z: (x.astype(k.wide) * y.astype(k.wide) + z).astype(k.T)),
    Variant("clamp_torch", "clamp", "PyTorch TensorCompareKernel clamp: min(max(x, lo), hi)",
            lambda k, a, x: np.minimum(np.maximum(x, k.c(a["low"])), k.c(a["high"]))),
    Variant("smooth_abs_torch", "smooth_abs", "sqrt(x*x + eps), g*x/y",
            lambda k, a, x: np.sqrt(x * x + k.c(a["eps"])), lambda k, a, x, y, g: [g * (x[0] / y[0])]),
    Variant("atan2_torch", "atan2", "PyTorch FunctionsManual.cpp atan2_backward: recip = 1/(a*a + b*b)", lambda k, a, x, y: k.atan2(x, y),
            lambda k, a, x, y, g: (gathered(g * x[1] * (k.c(1) / (x[0] * x[0] + x[1] * x[1])), x[0].shape),
                                   gathered(g * -x[0] * (k.c(1) / (x[0] * x[0] + x[1] * x[1])), x[1].shape))),
    Variant("log_torch", "log", "PyTorch derivatives.yaml log: grad.div(self)", one(lambda k, x: k.log(x)),
            pulled(lambda k, x, y, g: g / x), pushed(lambda k, x, y, d: d / x)),
    Variant("log_tensorflow", "log", "TensorFlow math_grad.py _LogGrad: grad * reciprocal(x)", one(lambda k, x: k.log(x)),
            pulled(lambda k, x, y, g: g * (k.c(1) / x)),
            loses={"f32 vjp": "one rounding more than IEEE 754's quotient", "f64 vjp": "one rounding more than IEEE 754's quotient"}),
    Variant("log1p_tensorflow", "log1p", "TensorFlow math_grad.py _Log1pGrad: grad * reciprocal(1 + x)", one(lambda k, x: k.log1p(x)),
            pulled(lambda k, x, y, g: g * (k.c(1) / (k.c(1) + x)))),
    Variant("erf_tensorflow", "erf", "TensorFlow math_grad.py _ErfGrad: grad * 2/sqrt(pi) * exp(-x*x)", one(lambda k, x: k.erf(x)),
            pulled(lambda k, x, y, g: g * k.c(2 / np.sqrt(np.pi)) * k.exp(-(x * x)))),
]
