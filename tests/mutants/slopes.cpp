// Values that are right and local derivatives that are not.
#include <array>
#include <cmath>
#include <numbers>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

Expr number(double x) { return spec::binary64(x); }

void rewrite_slope(System& system, Primitive function, const std::function<Expr(const Expr&)>& slope) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, function) || is_closed(e)) return std::nullopt;
    return with_slope(e, slope(e));
  });
}

void square_without_two(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::mul) || !(e->args[0] == e->args[1]) || is_closed(e)) return std::nullopt;
    return spec::detach(e->args[0]) * e->args[1];
  });
}

// x*f(x): the product rule stops after its first term.
void product_rule_one_sided(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::mul) || e->args[0].form() != Form::read || e->args[1].form() == Form::read)
      return std::nullopt;
    bool shares = false;
    spec::for_each(e->args[1], [&](const Expr& sub) { shares = shares || sub == e->args[0]; });
    if (!shares) return std::nullopt;
    return e->args[0] * spec::detach(e->args[1]);
  });
}

// Means over rows count as constants of a normalisation.
void statistics_detached(System& system) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || e->args[1].form() != Form::read) return std::nullopt;
    if (!is_real(looked_through(system, e->args[1]), Primitive::div)) return std::nullopt;
    return e->args[0] - spec::detach(e->args[1]);
  });
}

void spread_detached(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || !e->args[1].is(Primitive::sqrt) || is_closed(e->args[1])) return std::nullopt;
    return e->args[0] / spec::detach(e->args[1]);
  });
}

void normaliser_detached(System& system) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || !is_reduce(looked_through(system, e->args[1]), Reduction::sum))
      return std::nullopt;
    return e->args[0] / spec::detach(e->args[1]);
  });
}

void steps_pass_gradient(System& system) {
  for (const Primitive p : {Primitive::floor, Primitive::ceil, Primitive::round, Primitive::trunc}) {
    rewrite_slope(system, p, [](const Expr& e) { return e->args[0]; });
  }
}

void detach_ignored(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::detach) return std::nullopt;
    return e->args[0];
  });
}

void bounds_pass_gradient(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || e.kind() != Kind::real) return std::nullopt;
    if (!is_closed(e->args[1]) || is_closed(e->args[2]) || e->args[0]->args.empty()) return std::nullopt;
    if (e->args[0]->args[0].kind() != Kind::real) return std::nullopt;
    return with_slope(e, e->args[2]);
  });
}

void product_divides(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::prod) || e.kind() != Kind::real) return std::nullopt;
    const Expr logarithm = call(Primitive::log, call(Primitive::abs, e->args[1]));
    const Expr total = spec::reduce(Reduction::sum, e->binders, e->args[0], logarithm);
    return spec::detach(e) * (spec::decimal(1) + total - spec::detach(total));
  });
}

// The guard that keeps the derivative of the root of 0 finite is gone.
void root_unguarded(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || constant(e->args[1]) != 0.0 || !e->args[2].is(Primitive::sqrt)) return std::nullopt;
    return e->args[2];
  });
}

void root_without_half(System& system) {
  rewrite_slope(system, Primitive::sqrt, [](const Expr& e) { return number(2) * e; });
}

void reciprocal_kept_from_zero(System& system) {
  rewrite_slope(system, Primitive::log,
                [](const Expr& e) { return call(Primitive::log, e->args[0] + spec::decimal(1, -12)); });
}

void tanh_of_operand(System& system) {
  rewrite_slope(system, Primitive::tanh, [](const Expr& e) {
    const Expr& x = e->args[0];
    return x - x * x * x / number(3);
  });
}

void density_without_factor(System& system) {
  rewrite_slope(system, Primitive::erf, [](const Expr& e) { return e * number(std::sqrt(std::numbers::pi) / 2); });
}

void size_has_slope_at_zero(System& system) {
  rewrite_slope(system, Primitive::abs, [](const Expr& e) {
    return spec::select(call(Primitive::ge, e->args[0], number(0)), e->args[0], -e->args[0]);
  });
}

void binary_slope_natural(System& system) {
  rewrite_slope(system, Primitive::log2, [](const Expr& e) { return call(Primitive::log, e->args[0]); });
  rewrite_slope(system, Primitive::exp2, [](const Expr& e) { return e / number(std::numbers::ln2); });
}

void mean_as_sum(System& system) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || !constant(e->args[1]) || *constant(e->args[1]) == 1.0) return std::nullopt;
    if (!is_reduce(looked_through(system, e->args[0]), Reduction::sum)) return std::nullopt;
    return with_slope(e, e->args[0]);
  });
}

void survivors_unscaled(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || e->args[1].form() == Form::number || !is_closed(e->args[1])) return std::nullopt;
    return with_slope(e, e->args[0]);
  });
}

void exponent_is_constant(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow) || is_closed(e->args[1])) return std::nullopt;
    return call(Primitive::pow, e->args[0], spec::detach(e->args[1]));
  });
}

void power_not_lowered(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow) || is_closed(e->args[0])) return std::nullopt;
    return spec::detach(e) * (spec::decimal(1) + e->args[1] * (e->args[0] - spec::detach(e->args[0])));
  });
}

void remainder_ignores_divisor(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::modulo)) return std::nullopt;
    return call(Primitive::modulo, e->args[0], spec::detach(e->args[1]));
  });
}

void state_not_passed_back(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || e->args[1].form() != Form::read || !has_variable(e->args[0])) return std::nullopt;
    if (!e->args[2].is(Primitive::neg) && constant(e->args[2]) == std::nullopt) return std::nullopt;
    return spec::select(e->args[0], spec::detach(e->args[1]), e->args[2]);
  });
}

constexpr std::array list{
    Mutant{.name = "square_without_two",
           .defect = "the derivative of x*x is x",
           .history = "factor 2 missing in hand-written mean squared errors",
           .operations = "square,mse,norm",
           .primal = square_without_two},
    Mutant{.name = "product_rule_one_sided",
           .defect = "the derivative of x f(x) is f(x)",
           .history = "GELU and SiLU backward without the density term",
           .operations = "gelu,silu",
           .primal = product_rule_one_sided},
    Mutant{.name = "statistics_detached",
           .defect = "the mean is a constant in derivatives",
           .history = "fused layer norm backward without the mean term; PyTorch XLA 913 for batch norm",
           .operations = "layer_norm,var,batch_norm",
           .primal = statistics_detached},
    Mutant{.name = "spread_detached",
           .defect = "the standard deviation is a constant in derivatives",
           .history = "Torch nn 619, 768: batch norm's backward treated the statistics as given",
           .operations = "layer_norm,rms_norm",
           .primal = spread_detached},
    Mutant{.name = "normaliser_detached",
           .defect = "softmax's sum is a constant in derivatives",
           .history = "the diagonal of the Jacobian taken for the whole",
           .operations = "softmax,masked_softmax",
           .primal = normaliser_detached},
    Mutant{.name = "steps_pass_gradient",
           .defect = "floor, ceil, round and trunc have derivative 1",
           .history = "straight-through estimators registered globally by quantisation tools",
           .operations = "floor,round,trunc",
           .primal = steps_pass_gradient},
    Mutant{.name = "detach_ignored",
           .defect = "derivatives pass through what was detached",
           .history = "stop_gradient lost in exporters to ONNX and TFLite",
           .operations = "detach,batch_norm,embedding",
           .primal = detach_ignored},
    Mutant{.name = "bounds_pass_gradient",
           .defect = "what is clamped has the derivative of what is not",
           .history = "clip implemented on data behind the tape's back",
           .operations = "relu,clamp,hinge",
           .primal = bounds_pass_gradient},
    Mutant{.name = "product_divides",
           .defect = "the derivative of a product is the product over the factor",
           .history = "MXNet 17864, tinygrad 17404, Burn 5533, PyTorch 773: NaN at a factor 0",
           .operations = "prod",
           .primal = product_divides},
    Mutant{.name = "root_unguarded",
           .defect = "the derivative of the norm of 0 is NaN",
           .history = "PyTorch 2421, autograd 151, JAX 21723",
           .operations = "norm,normalize_gradient",
           .primal = root_unguarded},
    Mutant{.name = "root_without_half",
           .defect = "the derivative of the root lacks its half",
           .history = "hand-written rsqrt backward functions",
           .operations = "sqrt,std,smooth_abs",
           .primal = root_without_half},
    Mutant{.name = "reciprocal_kept_from_zero",
           .defect = "the derivative of log is 1/(x + 1e-12)",
           .history = "binary cross entropy: loss clamped at -100, gradient by an epsilon of its own",
           .operations = "log,kl_div",
           .primal = reciprocal_kept_from_zero},
    Mutant{.name = "tanh_of_operand",
           .defect = "tanh's derivative is 1 - x*x instead of 1 - y*y",
           .history = "backward functions given the input where they expect the output",
           .operations = "tanh,rnn_cell",
           .primal = tanh_of_operand},
    Mutant{.name = "density_without_factor",
           .defect = "erf's derivative lacks 2/sqrt(pi)",
           .history = "GELU backward with the density of the wrong normal distribution",
           .operations = "erf,gelu",
           .primal = density_without_factor},
    Mutant{.name = "size_has_slope_at_zero",
           .defect = "the derivative of abs at 0 is 1",
           .history = "smooth_l1 with beta 0 gives -1 at 0, l1 gives 0",
           .operations = "abs,l1",
           .primal = size_has_slope_at_zero},
    Mutant{.name = "binary_slope_natural",
           .defect = "log2 and exp2 have the derivatives of log and exp",
           .history = "exp2 mapped to exp in a derivative table",
           .operations = "log2,exp2",
           .primal = binary_slope_natural},
    Mutant{.name = "mean_as_sum",
           .defect = "the derivative of a mean is that of the sum",
           .history = "reduction = mean honoured forwards alone",
           .operations = "mean,mse,global_avg_pool1d",
           .primal = mean_as_sum},
    Mutant{.name = "survivors_unscaled",
           .defect = "dropout's derivative lacks 1/(1 - p)",
           .history = "masks saved without their scale",
           .operations = "dropout",
           .primal = survivors_unscaled},
    Mutant{.name = "exponent_is_constant",
           .defect = "a^b has no derivative in b",
           .history = "pow rules written for constant exponents",
           .operations = "pow",
           .primal = exponent_is_constant},
    Mutant{.name = "power_not_lowered",
           .defect = "the derivative of a^b in a is b a^b",
           .history = "an exponent that was not lowered in a rule for pow",
           .operations = "pow,power",
           .primal = power_not_lowered},
    Mutant{.name = "remainder_ignores_divisor",
           .defect = "the remainder has no derivative in the divisor",
           .history = "fmod's gradient, missing for years in several engines",
           .operations = "remainder",
           .primal = remainder_ignores_divisor},
    Mutant{.name = "state_not_passed_back",
           .defect = "a scan's derivative does not pass from one step to the one before",
           .history = "TensorFlow 3862, nnabla 954: cumulative products and sums backwards",
           .operations = "cumsum,cumprod",
           .primal = state_not_passed_back},
};

}  // namespace

std::span<const Mutant> slopes() { return list; }

}  // namespace etalon::mutants
