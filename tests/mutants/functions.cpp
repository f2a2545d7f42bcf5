// Scalar functions computed by other formulas than those that keep their digits.
#include <array>
#include <cmath>
#include <numbers>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using Formula = std::function<Expr(const Expr&)>;

// f(x) of a number that is read becomes the formula.
void rewrite_function(System& system, Primitive function, const Formula& formula) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!e.is(function) || is_closed(e)) return std::nullopt;
    return formula(e->args[0]);
  });
}

Expr number(double x) { return spec::binary64(x); }
Expr exponential(const Expr& x) { return call(Primitive::exp, x); }
Expr whole(std::int64_t x) { return spec::decimal(x); }

void tanh_by_exponentials(System& system, spec::Mode) {
  rewrite_function(system, Primitive::tanh, [](const Expr& x) {
    const Expr square = exponential(x + x);
    return (square - whole(1)) / (square + whole(1));
  });
}

void tanh_by_one_quotient(System& system, spec::Mode) {
  rewrite_function(system, Primitive::tanh,
                   [](const Expr& x) { return whole(1) - whole(2) / (exponential(x + x) + whole(1)); });
}

void tanh_by_polynomials(System& system, spec::Mode) {
  rewrite_function(system, Primitive::tanh, [](const Expr& x) {
    const Expr limited = call(Primitive::minimum, call(Primitive::maximum, x, number(-4.97)), number(4.97));
    const Expr s = limited * limited;
    const Expr p = limited * (whole(135135) + s * (whole(17325) + s * (whole(378) + s)));
    const Expr q = whole(135135) + s * (whole(62370) + s * (whole(3150) + whole(28) * s));
    return p / q;
  });
}

void exp_by_exp2(System& system, spec::Mode) {
  rewrite_function(system, Primitive::exp,
                   [](const Expr& x) { return call(Primitive::exp2, x * number(std::numbers::log2e)); });
}

void exp_by_short_polynomial(System& system, spec::Mode) {
  rewrite_function(system, Primitive::exp, [](const Expr& x) {
    const Expr n = call(Primitive::round, x * number(std::numbers::log2e));
    const Expr r = x - n * number(std::numbers::ln2);
    const Expr p = whole(1) + r * (whole(1) + r * (number(0.5) + r * (number(1.0 / 6) + r * number(1.0 / 24))));
    return p * call(Primitive::exp2, n);
  });
}

void exp_clamped(System& system, spec::Mode) {
  const double top = is_double(system) ? 709 : 88;
  rewrite_function(system, Primitive::exp,
                   [top](const Expr& x) { return exponential(call(Primitive::minimum, x, number(top))); });
}

void erf_by_rational(System& system, spec::Mode) {
  rewrite_function(system, Primitive::erf, [](const Expr& x) {
    const Expr t = whole(1) / (whole(1) + number(0.3275911) * call(Primitive::abs, x));
    const Expr p =
        t *
        (number(0.254829592) +
         t * (number(-0.284496736) + t * (number(1.421413741) + t * (number(-1.453152027) + t * number(1.061405429)))));
    return call(Primitive::sign, x) * (whole(1) - p * exponential(-(x * x)));
  });
}

void erf_by_tanh(System& system, spec::Mode) {
  rewrite_function(system, Primitive::erf, [](const Expr& x) {
    const double factor = 2 / std::sqrt(std::numbers::pi);
    return call(Primitive::tanh, number(factor) * (x + number(2 * 0.044715) * (x * (x * x))));
  });
}

void expm1_by_exp(System& system, spec::Mode) {
  rewrite_function(system, Primitive::expm1, [](const Expr& x) { return exponential(x) - whole(1); });
}

void log1p_by_log(System& system, spec::Mode) {
  rewrite_function(system, Primitive::log1p, [](const Expr& x) { return call(Primitive::log, whole(1) + x); });
}

void log2_by_short_constant(System& system, spec::Mode) {
  rewrite_function(system, Primitive::log2, [](const Expr& x) { return call(Primitive::log, x) * number(1.442695); });
}

void log_of_clamped(System& system, spec::Mode) {
  rewrite_function(system, Primitive::log, [](const Expr& x) {
    return call(Primitive::log, spec::select(call(Primitive::lt, x, number(1e-12)), number(1e-12), x));
  });
}

// The period subtracted as one rounded number.
Expr reduced_angle(const Expr& x) {
  const Expr turns = call(Primitive::round, x / number(2 * std::numbers::pi));
  return x - turns * number(2 * std::numbers::pi);
}

void sine_of_reduced_angle(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sin, [](const Expr& x) { return call(Primitive::sin, reduced_angle(x)); });
}

void cosine_by_shifted_sine(System& system, spec::Mode) {
  rewrite_function(system, Primitive::cos,
                   [](const Expr& x) { return call(Primitive::sin, x + number(std::numbers::pi / 2)); });
}

void tangent_estimated(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_function(system, Primitive::tan, [p](const Expr& x) {
    return call(Primitive::sin, x) / upper_bits(call(Primitive::cos, x), p - 4, p);
  });
}

void sinh_by_exponentials(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sinh,
                   [](const Expr& x) { return (exponential(x) - exponential(-x)) / whole(2); });
}

void cosh_by_square(System& system, spec::Mode) {
  rewrite_function(system, Primitive::cosh, [](const Expr& x) {
    const Expr e = exponential(x);
    return (e * e + whole(1)) / (whole(2) * e);
  });
}

void root_by_reciprocal_root(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sqrt, [](const Expr& x) { return x * (whole(1) / call(Primitive::sqrt, x)); });
}

void root_by_logarithm(System& system, spec::Mode) {
  rewrite_function(system, Primitive::sqrt,
                   [](const Expr& x) { return exponential(number(0.5) * call(Primitive::log, x)); });
}

void power_by_logarithm(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow) || is_closed(e)) return std::nullopt;
    return exponential(e->args[1] * call(Primitive::log, e->args[0]));
  });
}

void power_of_size(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow) || is_closed(e)) return std::nullopt;
    return call(Primitive::pow, call(Primitive::abs, e->args[0]), e->args[1]);
  });
}

void angle_of_quotient(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::atan2)) return std::nullopt;
    return call(Primitive::atan2, e->args[0] / e->args[1], whole(1));
  });
}

constexpr std::array transcendental{Primitive::exp,  Primitive::tanh,  Primitive::erf,  Primitive::sin, Primitive::cos,
                                    Primitive::log,  Primitive::exp2,  Primitive::log2, Primitive::tan, Primitive::sinh,
                                    Primitive::cosh, Primitive::expm1, Primitive::log1p};

void rewrite_results(System& system, const Formula& formula) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    for (const Primitive p : transcendental) {
      if (e.is(p) && !is_closed(e)) return formula(e);
    }
    return std::nullopt;
  });
}

void tables_of_eleven_bits(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_results(system, [p](const Expr& e) { return upper_bits(e, 11, p); });
}

void four_ulps_off(System& system, spec::Mode) {
  const int p = precision_of(system);
  rewrite_results(system, [p](const Expr& e) { return upper_bits(e, p - 4, p); });
}

void double_functions_in_single(System& system, spec::Mode) {
  if (!is_double(system)) return;
  rewrite_results(system, [](const Expr& e) { return upper_bits(e, 24, 53); });
}

// 1/(1 + e^-x) for all x, or e^x/(1 + e^x) for all x, where the definition takes the one that does not overflow.
std::optional<Expr> one_branch(const Expr& e, std::size_t branch) {
  if (e.form() != Form::select || e.kind() != Kind::real || e->args[0].form() != Form::apply) return std::nullopt;
  if (e->args[0]->args.empty() || e->args[0]->args[0].kind() != Kind::real) return std::nullopt;
  const auto raises = [](const Expr& x) {
    bool found = false;
    spec::for_each(x, [&](const Expr& sub) { found = found || sub.is(Primitive::exp); });
    return found;
  };
  if (!raises(e->args[1]) || !raises(e->args[2])) return std::nullopt;
  return e->args[branch];
}

void stable_branch_for_negative(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) { return one_branch(e, 1); });
}

void stable_branch_for_positive(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) { return one_branch(e, 2); });
}

void softplus_linear_beyond(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !e->args[1].is(Primitive::log1p)) return std::nullopt;
    const Expr exponent = e->args[1]->args[0];
    if (!exponent.is(Primitive::exp) || e->args[0].form() != Form::read) return std::nullopt;
    return spec::select(call(Primitive::gt, e->args[0], whole(20)), e->args[0], e);
  });
}

constexpr std::array list{
    Mutant{"tanh_by_exponentials", "tanh is computed as a quotient of exponentials",
           "PyTorch 186278, ExecuTorch 22323: NaN in GELU for inputs beyond 10", "tanh,gelu", tanh_by_exponentials},
    Mutant{"tanh_by_one_quotient", "tanh is 1 less a quotient, which cancels near 0",
           "the textbook formula in shaders and in hand-written kernels", "tanh,lstm_cell", tanh_by_one_quotient},
    Mutant{"tanh_by_polynomials", "tanh is a rational function that is good to five digits",
           "TensorFlow 47724: fast tanh off near its clamp", "tanh,rnn_cell", tanh_by_polynomials},
    Mutant{"exp_by_exp2", "e^x is 2^(x log2 e) in one rounding", "GPU kernels built on ex2 without an extended product",
           "exp,softmax", exp_by_exp2},
    Mutant{"exp_by_short_polynomial", "e^x has a polynomial of degree 4",
           "vectorised exponentials of inference engines, good to 4e-5", "exp,sigmoid", exp_by_short_polynomial},
    Mutant{"exp_clamped", "the argument of exp is kept below 88",
           "JAX 276, 469: exp(100) was finite in fast-math builds", "exp", exp_clamped},
    Mutant{"erf_by_rational", "erf has an absolute error of 1.5e-7 (Abramowitz and Stegun 7.1.26)",
           "the formula that most ports of GELU to new devices start from", "erf,gelu", erf_by_rational},
    Mutant{"erf_by_tanh", "GELU's approximation is used where the exact one was asked for",
           "converters mapped both variants of GELU to one kernel", "gelu,erf", erf_by_tanh},
    Mutant{"expm1_by_exp", "expm1 is exp less 1", "several array libraries defined it so at first", "expm1,elu",
           expm1_by_exp},
    Mutant{"log1p_by_log", "log1p is the logarithm of 1 + x", "several array libraries defined it so at first",
           "log1p,softplus", log1p_by_log},
    Mutant{"log2_by_short_constant", "log2 is log times a constant of seven digits", "constants typed in by hand",
           "log2", log2_by_short_constant},
    Mutant{"log_of_clamped", "the logarithm of what is below 1e-12 is that of 1e-12",
           "binary cross entropy clamped inside the library's log; value and derivative disagreed", "log,kl_div",
           log_of_clamped},
    Mutant{"sine_of_reduced_angle", "2 pi is subtracted as one rounded number", "OpenCL native_sin, HLSL intrinsics",
           "sin,sinusoidal_encoding", sine_of_reduced_angle},
    Mutant{"cosine_by_shifted_sine", "cos x is sin(x + pi/2)", "devices with one trigonometric instruction", "cos,rope",
           cosine_by_shifted_sine},
    Mutant{"tangent_estimated", "tan divides by an estimated cosine", "tan composed from fast intrinsics", "tan",
           tangent_estimated},
    Mutant{"sinh_by_exponentials", "sinh is half a difference of exponentials, which cancels near 0",
           "TensorFlow and ONNX reference implementations of sinh", "sinh", sinh_by_exponentials},
    Mutant{"cosh_by_square", "cosh squares an exponential and overflows at half the range",
           "algebra to save one call of exp", "cosh", cosh_by_square},
    Mutant{"root_by_reciprocal_root", "the square root is x times 1/sqrt x, NaN at 0", "SIMD square roots by rsqrtps",
           "sqrt,norm", root_by_reciprocal_root},
    Mutant{"root_by_logarithm", "the square root is a power by way of the logarithm",
           "pow(x, 0.5) lowered to exp and log", "sqrt,rms_norm", root_by_logarithm},
    Mutant{"power_by_logarithm", "a^b is exp(b log a), NaN for a < 0",
           "TensorFlow 57747, tfjs 346, MLX 628: NaN for negative bases", "pow,power", power_by_logarithm},
    Mutant{"power_of_size", "a^b takes the size of a", "powr where pow was meant, in OpenCL and Vulkan backends",
           "pow,power", power_of_size},
    Mutant{"angle_of_quotient", "atan2 is the arc tangent of the quotient",
           "ONNX has no Atan2; exporters wrote Atan(Div)", "atan2", angle_of_quotient},
    Mutant{"tables_of_eleven_bits", "functions come from tables of 11 bits", "tanh.approx and the lookup units of NPUs",
           "tanh,sigmoid,exp", tables_of_eleven_bits},
    Mutant{"eight_ulps_off", "functions lose their last four bits",
           "HLSL 601: one GPU, tanh within 117 ulp under one API and 5 under another", "sin,erf,log", four_ulps_off},
    Mutant{"double_functions_in_single", "functions of float64 are computed in float32",
           "float overloads chosen for double arguments in GPU headers", "exp,sin,gelu", double_functions_in_single},
    Mutant{"stable_branch_for_negative", "the formula for negative x serves all x", "inf/inf in sigmoid for x > 88",
           "sigmoid,silu", stable_branch_for_negative},
    Mutant{"stable_branch_for_positive", "the formula for positive x serves all x",
           "1/(1 + exp(-x)) is 0 where the sigmoid is a small number", "softplus,bce_with_logits,silu",
           stable_branch_for_positive},
    Mutant{"softplus_linear_beyond", "softplus is x beyond 20, also in float64",
           "the threshold of float32 kernels kept for double", "softplus", softplus_linear_beyond},
};

}  // namespace

std::span<const Mutant> functions() { return list; }

}  // namespace etalon::mutants
