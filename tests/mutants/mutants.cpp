#include "tests/mutants/mutants.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace etalon::mutants {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;
using spec::System;

// The replacement of a node whose children were rewritten already, or nothing to keep it.
using Rewrite = std::function<std::optional<Expr>(const Expr&)>;

Expr rewritten(const Expr& e, const Rewrite& rewrite) {
  std::vector<Expr> args;
  for (const Expr& arg : e->args) args.push_back(rewritten(arg, rewrite));
  const Expr rebuilt = args.empty() ? e : spec::with_args(e, args);
  return rewrite(rebuilt).value_or(rebuilt);
}

void rewrite_values(System& system, const Rewrite& rewrite) {
  for (spec::Equation& equation : system.equations) equation.value = rewritten(equation.value, rewrite);
}

bool is_reduce(const Expr& e, Reduction reduction) { return e.form() == Form::reduce && e->reduction == reduction; }

Expr reduced(const Expr& like, std::vector<spec::Binder> binders, const Expr& guard, const Expr& body) {
  return spec::reduce(like->reduction, std::move(binders), guard, body, like->args.size() > 2 ? like->args[2] : Expr{});
}

void drop_last_term(System& system) {
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

void last_of_ties(System& system) {
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

void swap_last_indices(System& system) {
  for (spec::Equation& equation : system.equations) {
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || e->args.size() < 2) return std::nullopt;
      const Dims& dims = system[e->tensor].dims;
      const std::size_t last = dims.rank - 1;
      if (dims[last] != dims[last - 1]) return std::nullopt;
      std::vector<Expr> indices = e->args;
      std::swap(indices[last], indices[last - 1]);
      return spec::with_args(e, indices);
    });
  }
}

Expr clamped_reads(const System& system, const Expr& e) {
  return rewritten(e, [&](const Expr& sub) -> std::optional<Expr> {
    if (sub.form() != Form::read) return std::nullopt;
    const Dims& dims = system[sub->tensor].dims;
    std::vector<Expr> indices;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      if (dims[axis] == 0) return std::nullopt;
      const Expr low = spec::apply(Primitive::maximum, {sub->args[axis], spec::integer(0)});
      indices.push_back(spec::apply(Primitive::minimum, {low, spec::integer(dims[axis] - 1)}));
    }
    return spec::with_args(sub, indices);
  });
}

// A border read gives the nearest element instead of the value after `else`.
void border_clamps(System& system) {
  for (spec::Equation& equation : system.equations) {
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::select || e->args[2].form() != Form::number) return std::nullopt;
      bool index_test = false;
      spec::for_each(e->args[0], [&](const Expr& sub) { index_test |= sub.form() == Form::variable; });
      bool reads = false;
      bool empty = false;
      spec::for_each(e->args[1], [&](const Expr& sub) {
        reads |= sub.form() == Form::read;
        empty |= sub.form() == Form::read && system[sub->tensor].dims.count() == 0;
      });
      if (!index_test || !reads || empty) return std::nullopt;
      return clamped_reads(system, e->args[1]);
    });
  }
}

// Two locals of one shape share a buffer too early: the later one is never seen.
void stale_buffer(System& system) {
  std::vector<spec::TensorId> locals;
  std::map<spec::TensorId, spec::TensorId> shared;
  const auto is_output = [&](spec::TensorId id) {
    return std::find(system.outputs.begin(), system.outputs.end(), id) != system.outputs.end();
  };
  for (const spec::Equation& equation : system.equations) {
    if (is_output(equation.target) || shared.contains(equation.target)) continue;
    for (const spec::TensorId earlier : locals) {
      if (earlier != equation.target && system[earlier].dims == system[equation.target].dims &&
          system[earlier].dtype == system[equation.target].dtype) {
        shared[equation.target] = earlier;
      }
    }
    locals.push_back(equation.target);
  }
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || !shared.contains(e->tensor)) return std::nullopt;
    return system.at(shared.at(e->tensor), e->args);
  });
}

// Veltkamp's splitting keeps the upper 11 bits of a float32, as a tensor core in tf32 mode does.
Expr upper_bits(const Expr& x) {
  const Expr c = x * spec::binary64(8193);
  return c - (c - x);
}

void tf32_products(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum)) return std::nullopt;
    const Expr body = rewritten(e->args[1], [](const Expr& sub) -> std::optional<Expr> {
      if (!sub.is(Primitive::mul) || sub.kind() != Kind::real) return std::nullopt;
      return upper_bits(sub->args[0]) * upper_bits(sub->args[1]);
    });
    return reduced(e, e->binders, e->args[0], body);
  });
}

void no_bias_correction(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow)) return std::nullopt;
    return spec::decimal(0);
  });
}

void stride_off_by_one(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::mul) || e.kind() != Kind::integer) return std::nullopt;
    for (const std::size_t side : {0u, 1u}) {
      const Expr& factor = e->args[side];
      if (factor.form() != Form::number || factor->number.is_binary || factor->number.mantissa < 2) continue;
      return e->args[1 - side] * spec::integer(factor->number.mantissa - 1);
    }
    return std::nullopt;
  });
}

void epsilon_misplaced(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.is(Primitive::add) && e->args[0].is(Primitive::sqrt) && e->args[1].form() == Form::number) {
      return spec::apply(Primitive::sqrt, {e->args[0]->args[0] + e->args[1]});
    }
    if (e.is(Primitive::sqrt) && e->args[0].is(Primitive::add) && e->args[0]->args[1].form() == Form::number) {
      return spec::apply(Primitive::sqrt, {e->args[0]->args[0]}) + e->args[0]->args[1];
    }
    return std::nullopt;
  });
}

void negation_lost(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.is(Primitive::neg)) return e->args[0];
    return std::nullopt;
  });
}

void first_element_only(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::max)) return std::nullopt;
    std::vector<spec::Binder> binders = e->binders;
    for (spec::Binder& b : binders) b.extent = std::min<std::int64_t>(b.extent, 1);
    return reduced(e, binders, e->args[0], e->args[1]);
  });
}

// Strict comparisons of reals become non-strict: the other branch is taken at a kink.
void equality_swaps_branches(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    const bool real = e.form() == Form::apply && e->args.size() == 2 && e->args[0].kind() == Kind::real;
    if (real && e.is(Primitive::gt)) return spec::apply(Primitive::ge, e->args);
    if (real && e.is(Primitive::lt)) return spec::apply(Primitive::le, e->args);
    if (real && e.is(Primitive::ge)) return spec::apply(Primitive::gt, e->args);
    if (real && e.is(Primitive::le)) return spec::apply(Primitive::lt, e->args);
    return std::nullopt;
  });
}

void no_shift(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_reduce(e, Reduction::max) && e.kind() == Kind::real) return spec::decimal(0);
    return std::nullopt;
  });
}

// (e^2x - 1)/(e^2x + 1) overflows and cancels where tanh does neither.
void tanh_by_exponentials(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::tanh)) return std::nullopt;
    const Expr square = spec::apply(Primitive::exp, {e->args[0] + e->args[0]});
    return (square - spec::decimal(1)) / (square + spec::decimal(1));
  });
}

// A guarded sum loses its guard: what should be left out is counted.
void guard_lost(System& system) {
  for (spec::Equation& equation : system.equations) {
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (!is_reduce(e, Reduction::sum) || e->args[0].form() == Form::number) return std::nullopt;
      bool empty = false;
      spec::for_each(e->args[1], [&](const Expr& sub) {
        empty |= sub.form() == Form::read && system[sub->tensor].dims.count() == 0;
      });
      if (empty) return std::nullopt;
      return reduced(e, e->binders, spec::boolean(true), clamped_reads(system, e->args[1]));
    });
  }
}

// Only one use of a value passes its cotangent on: the second overwrites the first.
void fan_in_overwritten(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.is(Primitive::add) && e.kind() == Kind::real) return e->args[1];
    return std::nullopt;
  });
}

// The derivative at a tie gives each side the whole instead of one half.
void tie_counted_twice(System& system) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    const bool half =
        e.form() == Form::number && e.kind() == Kind::real &&
        (e->number.is_binary ? e->number.binary == 0.5 : e->number.mantissa == 5 && e->number.exponent == -1);
    if (half) return spec::decimal(1);
    return std::nullopt;
  });
}

constexpr std::array list{
    Mutant{"drop_last_term", "a sum leaves out its last element", "sum,mean,matmul,softmax", drop_last_term},
    Mutant{"last_of_ties", "argmax gives the last of equal elements", "argmax,max,max_pool2d", last_of_ties},
    Mutant{"swap_last_indices", "a read has its last two indices exchanged", "transpose,matmul,add", swap_last_indices},
    Mutant{"border_clamps", "a read outside gives the nearest element instead of `else`", "conv2d,gather",
           border_clamps},
    Mutant{"stale_buffer", "two locals of one shape share a buffer too early", "softmax,layer_norm,log_softmax,adam",
           stale_buffer},
    Mutant{"tf32_products", "operands of products are rounded to 11 bits", "matmul,linear,conv2d", tf32_products},
    Mutant{"no_bias_correction", "the moments are not corrected for their start", "adam,adamw", no_bias_correction},
    Mutant{"stride_off_by_one", "a stride is one too small", "conv2d,max_pool2d,slice", stride_off_by_one},
    Mutant{"epsilon_misplaced", "epsilon is on the wrong side of the square root", "adam,adamw,layer_norm",
           epsilon_misplaced},
    Mutant{"negation_lost", "a negation is dropped", "neg,sigmoid,cross_entropy", negation_lost},
    Mutant{"first_element_only", "a maximum looks at the first element only", "max,max_pool2d,argmax",
           first_element_only},
    Mutant{"equality_swaps_branches", "a strict comparison is taken for a non-strict one", "relu,hinge,abs",
           equality_swaps_branches},
    Mutant{"no_shift", "exponentials are summed without subtracting the maximum", "softmax,log_softmax,logsumexp",
           no_shift},
    Mutant{"tanh_by_exponentials", "tanh is computed as a quotient of exponentials", "tanh,gelu", tanh_by_exponentials},
    Mutant{"guard_lost", "a guarded sum counts what its guard leaves out", "gather,max_pool2d,concat,conv2d",
           guard_lost},
    Mutant{"fan_in_overwritten", "the second contribution to a cotangent overwrites the first", "mul,softmax,gelu",
           fan_in_overwritten},
    Mutant{"tie_counted_twice", "both sides of a tie get the whole cotangent", "maximum", tie_counted_twice},
};

}  // namespace

std::span<const Mutant> mutants() { return list; }

}  // namespace etalon::mutants
