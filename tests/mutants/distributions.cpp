// Softmax, its logarithm, normalisation and attention.
#include <array>
#include <cmath>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

void no_shift(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_reduce(e, Reduction::max) && e.kind() == Kind::real) return spec::decimal(0);
    return std::nullopt;
  });
}

// z - log(sum exp(z)) becomes log(exp(z) / sum exp(z)), which is log 0 where exp underflows.
void log_of_quotient(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || e->args[0].form() != Form::read) return std::nullopt;
    const Expr logarithm = looked_through(system, e->args[1]);
    if (!logarithm.is(Primitive::log)) return std::nullopt;
    return call(Primitive::log, call(Primitive::exp, e->args[0]) / logarithm->args[0]);
  });
}

// (x - top) - log s becomes x - (top + log s), which loses the logarithm beside a large top.
void shift_added_to_logarithm(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || e->args[0].form() != Form::read) return std::nullopt;
    const Expr logarithm = looked_through(system, e->args[1]);
    const Expr shifted = looked_through(system, e->args[0]);
    if (!logarithm.is(Primitive::log) || !shifted.is(Primitive::sub)) return std::nullopt;
    return shifted->args[0] - (shifted->args[1] + e->args[1]);
  });
}

// Where the largest is infinite, it is subtracted all the same.
void infinite_shift(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() == Form::select && e->args[0].is(Primitive::is_inf)) return e->args[2];
    return std::nullopt;
  });
}

// A row of which nothing is admitted is divided by its empty sum.
void empty_row_divided(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() == Form::select && is_real(e->args[1], Primitive::div) && constant(e->args[2]) == 0.0 &&
        reads_something(e->args[0])) {
      return e->args[1];
    }
    return std::nullopt;
  });
}

// The mask is forgotten where the exponentials are summed.
void masked_elements_weigh(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || constant(e->args[2]) != 0.0 || !e->args[1].is(Primitive::exp)) return std::nullopt;
    return e->args[1];
  });
}

void scaled_by_width(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.is(Primitive::sqrt) && is_closed(e->args[0])) return e->args[0];
    return std::nullopt;
  });
}

void epsilon_outside_root(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || !e->args[0].is(Primitive::add) || !is_closed(e->args[0]->args[1]))
      return std::nullopt;
    return call(Primitive::sqrt, e->args[0]->args[0]) + e->args[0]->args[1];
  });
}

void epsilon_dropped(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || !e->args[0].is(Primitive::add) || !is_closed(e->args[0]->args[1]))
      return std::nullopt;
    return call(Primitive::sqrt, e->args[0]->args[0]);
  });
}

void epsilon_of_its_own(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || !e->args[0].is(Primitive::add) || !is_closed(e->args[0]->args[1]))
      return std::nullopt;
    return call(Primitive::sqrt, e->args[0]->args[0] + spec::decimal(1, -6));
  });
}

void root_of_variance_twice(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || !e->args[1].is(Primitive::sqrt)) return std::nullopt;
    const Expr& sum = e->args[1]->args[0];
    if (!sum.is(Primitive::add) || !is_closed(sum->args[1])) return std::nullopt;
    return e->args[0] / sum;
  });
}

// Rows without weight are counted in the mean.
void ignored_rows_counted(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div)) return std::nullopt;
    const Expr divisor = looked_through(system, e->args[1]);
    if (!is_reduce(divisor, Reduction::sum) || !reads_something(divisor->args[1])) return std::nullopt;
    const auto terms = terms_summed(system, divisor);
    if (!terms || !is_reduce(looked_through(system, e->args[0]), Reduction::sum)) return std::nullopt;
    return e->args[0] / spec::binary64(static_cast<double>(*terms));
  });
}

// 0 * log 0 is NaN where the definition says 0.
void zero_guard_lost(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || !e->args[0].is(Primitive::eq) || constant(e->args[1]) != 0.0) return std::nullopt;
    if (e->args[0]->args[0].kind() != Kind::real) return std::nullopt;
    return e->args[2];
  });
}

constexpr std::array list{
    Mutant{"no_shift", "exponentials are summed without subtracting the maximum",
           "Deeplearning4j 6039, NNlib 68, uTensor 175: NaN for large logits", "softmax,log_softmax,logsumexp",
           no_shift},
    Mutant{"log_of_quotient", "log_softmax is the logarithm of softmax",
           "TensorFlow's early examples: -inf loss once a probability underflows", "log_softmax,cross_entropy",
           log_of_quotient},
    Mutant{"shift_added_to_logarithm", "the logarithm of the sum is added to the maximum before both are subtracted",
           "PyTorch 11752: cross entropy of equal logits near 1e8 was 0 instead of log 2", "log_softmax,cross_entropy",
           shift_added_to_logarithm},
    Mutant{"infinite_shift", "an infinite maximum is subtracted",
           "PyTorch 31829, JAX 6811, TensorFlow 11692: logsumexp of a row of -inf was NaN",
           "logsumexp,smooth_max_pool1d", infinite_shift},
    Mutant{"empty_row_divided", "a row that the mask leaves empty is divided by its sum",
           "PyTorch 41508 and 103963, MLX 2608: fully masked rows became NaN",
           "masked_softmax,scaled_dot_product_attention", empty_row_divided},
    Mutant{"masked_elements_weigh", "masked elements keep their weight in the sum",
           "a mask applied after the softmax instead of before it, in several attention kernels",
           "masked_softmax,scaled_dot_product_attention", masked_elements_weigh},
    Mutant{"scaled_by_width", "attention divides by the width instead of its root",
           "scale passed twice or as 1/d when attention kernels were swapped",
           "scaled_dot_product_attention,multi_head_attention", scaled_by_width},
    Mutant{"epsilon_outside_root", "epsilon is added to the standard deviation instead of the variance",
           "TensorFlow Addons and early Transformer code disagreed on where epsilon stands",
           "layer_norm,batch_norm,smooth_abs", epsilon_outside_root},
    Mutant{"epsilon_dropped", "epsilon is missing under the root",
           "fused kernels took epsilon as 0 when its argument was not bound", "rms_norm,layer_norm,adadelta",
           epsilon_dropped},
    Mutant{"epsilon_of_its_own", "epsilon is a constant of the kernel, whatever was asked for",
           "converters that forgot epsilon left the target's default, 1e-3 or 1e-6, in its place",
           "layer_norm,instance_norm", epsilon_of_its_own},
    Mutant{"root_of_variance_forgotten", "the deviation is divided by the variance",
           "rsqrt mapped to reciprocal in a code generator", "layer_norm,rms_norm", root_of_variance_twice},
    Mutant{"ignored_rows_counted", "a weighted mean divides by the number of rows",
           "PyTorch 73205, tinygrad 3570: ignored targets counted in the mean", "cross_entropy,nll",
           ignored_rows_counted},
    Mutant{"zero_guard_lost", "0 log 0 is computed as it stands",
           "NaN losses of kl_div for targets with zeros, in several projects", "kl_div", zero_guard_lost},
};

}  // namespace

std::span<const Mutant> distributions() { return list; }

}  // namespace etalon::mutants
