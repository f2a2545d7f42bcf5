// Sums, products, extrema and what counts in them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

void drop_last_term(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum)) return std::nullopt;
    std::vector<spec::Binder> binders = e->binders;
    for (spec::Binder& b : binders) {
      if (b.extent < 2) continue;
      --b.extent;
      return reduced(e, binders, e->args[0], e->args[1]);
    }
    return std::nullopt;
  });
}

void vector_tail_lost(System& system, spec::Mode) {
  constexpr std::int64_t width = 8;
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || e->binders.empty()) return std::nullopt;
    std::vector<spec::Binder> binders = e->binders;
    if (binders.back().extent <= width) return std::nullopt;
    binders.back().extent -= binders.back().extent % width;
    return reduced(e, binders, e->args[0], e->args[1]);
  });
}

// The quotient of a sum and a number that depends on how many terms the sum has.
void rewrite_counts(System& system, const std::function<std::optional<double>(double, double, const Expr&)>& other) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div)) return std::nullopt;
    const auto divisor = constant(e->args[1]);
    const auto terms = terms_summed(system, e->args[0]);
    if (!divisor || !terms) return std::nullopt;
    const Expr sum = looked_through(system, e->args[0]);
    const auto count = other(*divisor, static_cast<double>(*terms), sum->args[1]);
    if (!count) return std::nullopt;
    return e->args[0] / spec::binary64(*count);
  });
}

bool is_square(const Expr& e) { return is_real(e, Primitive::mul) && e->args[0] == e->args[1]; }

void padded_count(System& system, spec::Mode) {
  rewrite_counts(system, [](double divisor, double terms, const Expr&) -> std::optional<double> {
    if (divisor != terms) return std::nullopt;
    return 4 * std::ceil(terms / 4);
  });
}

void unbiased_variance(System& system, spec::Mode) {
  rewrite_counts(system, [](double divisor, double terms, const Expr& body) -> std::optional<double> {
    if (divisor != terms || terms < 2 || !is_square(body)) return std::nullopt;
    return terms - 1;
  });
}

void biased_variance(System& system, spec::Mode) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div)) return std::nullopt;
    const Expr through = e->args[0].form() == Form::detach ? e->args[0]->args[0] : e->args[0];
    const auto divisor = constant(e->args[1]);
    const auto terms = terms_summed(system, through);
    if (!divisor || !terms || *divisor != static_cast<double>(*terms - 1)) return std::nullopt;
    return e->args[0] / spec::binary64(static_cast<double>(*terms));
  });
}

// sum d*d for d = x - mu becomes sum x*x - n*mu*mu, which cancels.
void one_pass_variance(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    const auto terms = terms_summed(system, e);
    if (!is_reduce(e, Reduction::sum) || !terms || !is_square(e->args[1])) return std::nullopt;
    const Expr deviation = looked_through(system, e->args[1]->args[0]);
    if (!is_real(deviation, Primitive::sub)) return std::nullopt;
    const Expr& x = deviation->args[0];
    const Expr& mean = deviation->args[1];
    for (const spec::VariableId v : spec::free_variables(mean)) {
      for (const spec::Binder& b : e->binders) {
        if (b.variable == v) return std::nullopt;
      }
    }
    if (mean.form() != Form::read) return std::nullopt;
    const Expr difference =
        reduced(e, e->binders, e->args[0], x * x) - spec::binary64(static_cast<double>(*terms)) * (mean * mean);
    return call(Primitive::maximum, difference, spec::decimal(0));
  });
}

void last_of_ties(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::argmax)) return std::nullopt;
    std::int64_t count = 1;
    spec::Substitution reversed;
    for (const spec::Binder& b : e->binders) {
      count *= b.extent;
      reversed[b.variable] = spec::integer(b.extent - 1) - spec::variable(b);
    }
    return spec::integer(count - 1) -
           reduced(e, e->binders, spec::substitute(e->args[0], reversed), spec::substitute(e->args[1], reversed));
  });
}

void first_element_only(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::max)) return std::nullopt;
    std::vector<spec::Binder> binders = e->binders;
    for (spec::Binder& b : binders) b.extent = std::min<std::int64_t>(b.extent, 1);
    return reduced(e, binders, e->args[0], e->args[1]);
  });
}

void max_starts_at_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::max) || e.kind() != Kind::real) return std::nullopt;
    return call(Primitive::maximum, e, spec::decimal(0));
  });
}

void max_starts_at_lowest(System& system, spec::Mode) {
  const double lowest = is_double(system) ? std::numeric_limits<double>::lowest()
                                          : static_cast<double>(std::numeric_limits<float>::lowest());
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::max) || e.kind() != Kind::real) return std::nullopt;
    return call(Primitive::maximum, e, spec::binary64(lowest));
  });
}

// What is computed from no element is what the buffer was cleared to.
spec::Answer cleared_where_nothing_is_reduced(const spec::Request& request, const Sound& sound, Kind kind) {
  spec::Answer answer = sound(request);
  spec::Numbers* numbers = numbers_of(answer);
  const bool none = std::any_of(request.inputs.begin(), request.inputs.end(),
                                [](const HostTensor& t) { return t.dims.count() == 0; });
  if (numbers == nullptr || !none) return answer;
  for (HostTensor& t : numbers->outputs) {
    if (kind_of(t.dtype) == kind) fill(t, 0);
  }
  return answer;
}

spec::Answer product_over_none_is_zero(const spec::Request& request, const Sound& sound, Memory&) {
  return cleared_where_nothing_is_reduced(request, sound, Kind::real);
}

spec::Answer all_over_none_is_false(const spec::Request& request, const Sound& sound, Memory&) {
  return cleared_where_nothing_is_reduced(request, sound, Kind::boolean);
}

void product_by_logarithms(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::prod) || e.kind() != Kind::real) return std::nullopt;
    const Expr logarithm = call(Primitive::log, call(Primitive::abs, e->args[1]));
    const Expr size = call(Primitive::exp, spec::reduce(Reduction::sum, e->binders, e->args[0], logarithm));
    return size * reduced(e, e->binders, e->args[0], call(Primitive::sign, e->args[1]));
  });
}

void padding_in_mean(System& system, spec::Mode) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div)) return std::nullopt;
    const Expr bare = e->args[1].is(Primitive::to_real) ? e->args[1]->args[0] : e->args[1];
    const Expr divisor = looked_through(system, bare);
    if (!is_reduce(divisor, Reduction::sum) || reads_something(divisor->args[1])) return std::nullopt;
    std::int64_t count = 1;
    for (const spec::Binder& b : divisor->binders) count *= b.extent;
    if (count == 0 || !is_closed(divisor->args[1])) return std::nullopt;
    return e->args[0] / spec::binary64(static_cast<double>(count));
  });
}

constexpr std::array list{
    Mutant{"drop_last_term", "a sum leaves out its last element",
           "loop bounds taken as inclusive: recurring in hand-written kernels of most projects",
           "sum,mean,matmul,softmax", drop_last_term},
    Mutant{"vector_tail_lost", "a sum longer than a vector leaves out the remainder",
           "the scalar loop after the vectorised one was lost for some lengths in several inference engines",
           "sum,dot,norm", vector_tail_lost},
    Mutant{"padded_count", "a mean divides by the number of elements rounded up to a vector",
           "tiled accelerators counted the padding of the last tile in mean and normalisation", "mean,mse,layer_norm",
           padded_count},
    Mutant{"unbiased_variance", "a normalisation divides the squares by n - 1",
           "PyTorch 19902: batch statistics mixed up the biased and the unbiased variance", "layer_norm,instance_norm",
           unbiased_variance},
    Mutant{"biased_variance", "an unbiased variance divides by n",
           "PyTorch 100048: the running variance was updated with the biased estimate", "var,batch_norm",
           biased_variance},
    Mutant{"one_pass_variance", "the variance is the mean of the squares less the square of the mean",
           "PyTorch 51102, ONNX Runtime 28463, Burn 5607: cancels when the mean is large", "var,layer_norm,batch_norm",
           one_pass_variance},
    Mutant{"last_of_ties", "argmax gives the last of equal elements",
           "conventions differed between max over a dimension and over all in PyTorch, Paddle and TensorFlow",
           "argmax,max,max_pool2d", last_of_ties},
    Mutant{"first_element_only", "a maximum looks at the first element only",
           "a reduction kernel was launched with the wrong extent and reduced one element", "max,max_pool2d,softmax",
           first_element_only},
    Mutant{"max_starts_at_zero", "a maximum starts from 0",
           "pooling kernels initialised with 0, or padded with it, were wrong for negative activations",
           "max,max_pool1d", max_starts_at_zero},
    Mutant{"max_starts_at_lowest", "a maximum starts from the lowest finite number",
           "rows of -inf came out as -3.4e38 where FLT_MIN or -FLT_MAX was the neutral element",
           "max,max_pool1d,logsumexp", max_starts_at_lowest},
    Mutant{"product_over_none_is_zero", "the product over no elements is 0",
           "ONNX had to specify reductions over nothing because backends disagreed", "prod,logsumexp", nullptr, nullptr,
           nullptr, product_over_none_is_zero},
    Mutant{"all_over_none_is_false", "`all` over no elements is false",
           "buffers of truth values were cleared to 0 before the loop that never ran", "all", nullptr, nullptr, nullptr,
           all_over_none_is_false},
    Mutant{"product_by_logarithms", "a product is the exponential of a sum of logarithms",
           "a work-around for missing product kernels that loses digits in proportion to the logarithm", "prod",
           product_by_logarithms},
    Mutant{"padding_in_mean", "a mean over a window counts what lies outside",
           "ONNX Runtime 16203, coremltools 2844: padding counted although it was excluded",
           "avg_pool1d,adaptive_avg_pool1d", padding_in_mean},
};

}  // namespace

std::span<const Mutant> reductions() { return list; }

}  // namespace etalon::mutants
