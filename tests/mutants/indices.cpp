// Where elements are read and written: strides, borders, windows, duplicates.
#include <algorithm>
#include <array>
#include <map>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

Expr integer(std::int64_t x) { return spec::integer(x); }

// Reads with other indices, kept in range where the change leaves it.
void rewrite_reads(System& system, const std::function<std::optional<Expr>(const Expr&)>& change) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || e->args.empty()) return std::nullopt;
    const auto changed = change(e);
    if (!changed || *changed == e) return std::nullopt;
    return clamped_reads(system, *changed);
  });
}

std::optional<Expr> exchanged(const System& system, const Expr& e) {
  if (e.form() != Form::read || e->args.size() < 2) return std::nullopt;
  const Dims& dims = system[e->tensor].dims;
  const std::size_t last = dims.rank - 1;
  if (dims[last] != dims[last - 1]) return std::nullopt;
  std::vector<Expr> indices = e->args;
  std::swap(indices[last], indices[last - 1]);
  return spec::with_args(e, indices);
}

void swap_last_indices(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) { return exchanged(system, e); });
}

void swapped_in_the_backward_pass(System& system, spec::Mode) {
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || !is_derivative(system, e->tensor)) return std::nullopt;
    return exchanged(system, e);
  });
}

// A border read gives the nearest element instead of the value after `else`.
void border_clamps(System& system, spec::Mode) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || e->args[2].form() != Form::number) return std::nullopt;
    if (!has_variable(e->args[0]) || !reads_something(e->args[1])) return std::nullopt;
    return clamped_reads(system, e->args[1]);
  });
}

// A negative index counts from the end, as in Python.
void negative_index_wraps(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || e->args[1].form() != Form::read || !reads_something(e->args[0]))
      return std::nullopt;
    const Dims& dims = system[e->args[1]->tensor].dims;
    std::vector<Expr> wrapped;
    Expr valid;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      const Expr& index = e->args[1]->args[axis];
      if (!reads_something(index) || dims[axis] == 0) {
        wrapped.push_back(index);
        continue;
      }
      const Expr n = integer(dims[axis]);
      wrapped.push_back(spec::select(call(Primitive::lt, index, integer(0)), index + n, index));
      valid = call(Primitive::le, integer(0), wrapped.back()) && call(Primitive::lt, wrapped.back(), n);
    }
    const auto inside = clamped_reads(system, spec::with_args(e->args[1], wrapped));
    if (!valid.valid() || !inside) return std::nullopt;
    return spec::select(valid, *inside, e->args[2]);
  });
}

// A guarded sum loses its guard: what should be left out is counted.
void guard_lost(System& system, spec::Mode) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || e->args[0].form() == Form::number) return std::nullopt;
    const auto body = clamped_reads(system, e->args[1]);
    if (!body) return std::nullopt;
    return reduced(e, e->binders, spec::boolean(true), *body);
  });
}

bool is_factor(const Expr& e) {
  return e.form() == Form::number && e.kind() == Kind::integer && e->number.mantissa >= 2;
}

void stride_off_by_one(System& system, spec::Mode) {
  rewrite_reads(system, [](const Expr& read) -> std::optional<Expr> {
    return rewritten(read, [](const Expr& e) -> std::optional<Expr> {
      if (!e.is(Primitive::mul) || e.kind() != Kind::integer) return std::nullopt;
      for (const std::size_t side : {0u, 1u}) {
        if (is_factor(e->args[side])) return e->args[1 - side] * integer(e->args[side]->number.mantissa - 1);
      }
      return std::nullopt;
    });
  });
}

// The factor of the last variable of a window is 1.
void dilation_ignored(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::reduce) return std::nullopt;
    const auto bound = [&](const Expr& v) {
      return v.form() == Form::variable &&
             std::any_of(e->binders.begin(), e->binders.end(),
                         [&](const spec::Binder& b) { return b.variable == v->variable; });
    };
    bool changed = false;
    const Expr other = rewritten(e, [&](const Expr& sub) -> std::optional<Expr> {
      if (!sub.is(Primitive::mul) || sub.kind() != Kind::integer || !is_factor(sub->args[1]) || !bound(sub->args[0]))
        return std::nullopt;
      changed = true;
      return sub->args[0];
    });
    if (!changed) return std::nullopt;
    return other;
  });
}

void padding_off_by_one(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sub) || e.kind() != Kind::integer || !e->args[0].is(Primitive::add)) return std::nullopt;
    if (e->args[1].form() != Form::number || e->args[1]->number.mantissa < 1) return std::nullopt;
    return e->args[0] - integer(e->args[1]->number.mantissa - 1);
  });
}

// The kernel is read backwards along the last axis of its window.
void kernel_flipped(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || !is_real(e->args[1], Primitive::mul) || e->binders.size() < 2)
      return std::nullopt;
    const spec::Binder& b = e->binders.back();
    const spec::Substitution by{{b.variable, integer(b.extent - 1) - spec::variable(b)}};
    for (const std::size_t side : {0u, 1u}) {
      const Expr& kernel = e->args[1]->args[side];
      if (kernel.form() != Form::read) continue;
      const Expr other = e->args[1]->args[1 - side];
      if (spec::substitute(kernel, by) == kernel) continue;
      return reduced(e, e->binders, e->args[0], spec::substitute(kernel, by) * other);
    }
    return std::nullopt;
  });
}

void group_lost(System& system, spec::Mode) {
  rewrite_reads(system, [](const Expr& read) -> std::optional<Expr> {
    return rewritten(read, [](const Expr& e) -> std::optional<Expr> {
      if (!e.is(Primitive::floor_div) || e.kind() != Kind::integer) return std::nullopt;
      return integer(0);
    });
  });
}

void nearest_rounds(System& system, spec::Mode) {
  rewrite_reads(system, [](const Expr& read) -> std::optional<Expr> {
    return rewritten(read, [](const Expr& e) -> std::optional<Expr> {
      if (!e.is(Primitive::floor_div) || e.kind() != Kind::integer || !is_factor(e->args[1])) return std::nullopt;
      return call(Primitive::floor_div, e->args[0] + integer(e->args[1]->number.mantissa / 2), e->args[1]);
    });
  });
}

void roll_backwards(System& system, spec::Mode) {
  rewrite_reads(system, [](const Expr& read) -> std::optional<Expr> {
    return rewritten(read, [](const Expr& e) -> std::optional<Expr> {
      if (!e.is(Primitive::modulo) || e.kind() != Kind::integer || !e->args[0].is(Primitive::sub)) return std::nullopt;
      return call(Primitive::modulo, e->args[0]->args[0] + e->args[0]->args[1], e->args[1]);
    });
  });
}

// Of the terms that share a place, the last one alone arrives.
std::optional<Expr> last_alone(const Expr& e) {
  if (!is_reduce(e, Reduction::sum) || e->binders.size() != 1 || !reads_something(e->args[0])) return std::nullopt;
  const spec::Binder& b = e->binders[0];
  const Expr position =
      spec::reduce(Reduction::argmax, e->binders, e->args[0], call(Primitive::to_real, spec::variable(b)), integer(0));
  const Expr any = spec::reduce(Reduction::any, e->binders, spec::boolean(true), e->args[0]);
  const Expr zero = e.kind() == Kind::real ? spec::decimal(0) : integer(0);
  return spec::select(any, spec::substitute(e->args[1], {{b.variable, position}}), zero);
}

void duplicates_overwrite(System& system, bool derivatives) {
  const Rewrite last = [&](const Expr& e) -> std::optional<Expr> {
    const auto alone = last_alone(e);
    if (!alone) return std::nullopt;
    return clamped_reads(system, spec::refresh(system, *alone));
  };
  derivatives ? rewrite_derivatives(system, last) : rewrite_primal(system, last);
}

void duplicates_overwrite_gradient(System& system, spec::Mode) { duplicates_overwrite(system, true); }
void duplicates_overwrite_values(System& system, spec::Mode) { duplicates_overwrite(system, false); }

// An operand of lower rank is aligned with the first axes.
void aligned_left(System& system, spec::Mode) {
  for (spec::Equation& equation : system.equations) {
    if (equation.binders.size() < 2) continue;
    const spec::Binder first = equation.binders.front(), last = equation.binders.back();
    if (first.extent != last.extent) continue;
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || e->args.size() != 1 || e->args[0].form() != Form::variable) return std::nullopt;
      if (e->args[0]->variable != last.variable) return std::nullopt;
      return spec::with_args(e, {spec::variable(first)});
    });
  }
}

// A broadcast operand is read as if its elements lay one after the other.
void broadcast_read_densely(System& system, spec::Mode) {
  for (spec::Equation& equation : system.equations) {
    if (is_derivative(system, equation.target)) continue;
    std::int64_t count = 1;
    Expr flat = integer(0);
    for (const spec::Binder& b : equation.binders) {
      flat = flat * integer(b.extent) + spec::variable(b);
      count *= b.extent;
    }
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || e->args.size() != equation.binders.size()) return std::nullopt;
      const Dims& dims = system[e->tensor].dims;
      if (dims.count() < 2 || dims.count() >= count) return std::nullopt;
      std::vector<Expr> indices(dims.rank);
      Expr rest = call(Primitive::modulo, flat, integer(dims.count()));
      for (std::size_t axis = dims.rank; axis-- > 0;) {
        indices[axis] = call(Primitive::modulo, rest, integer(dims[axis]));
        rest = call(Primitive::floor_div, rest, integer(dims[axis]));
      }
      return spec::with_args(e, indices);
    });
  }
}

// Comparisons of indices leave out the equality.
void diagonal_left_out(System& system, spec::Mode) {
  rewrite_primal(system, [](const Expr& e) -> std::optional<Expr> {
    const bool indices = e.form() == Form::apply && e->args.size() == 2 && e->args[0].form() == Form::variable &&
                         !reads_something(e->args[1]) && has_variable(e->args[1]);
    if (!indices) return std::nullopt;
    if (e.is(Primitive::le)) return call(Primitive::lt, e->args[0], e->args[1]);
    if (e.is(Primitive::ge)) return call(Primitive::gt, e->args[0], e->args[1]);
    return std::nullopt;
  });
}

// Rows are aligned with the last columns where a matrix is not square.
void mask_aligned_to_the_end(System& system, spec::Mode) {
  for (spec::Equation& equation : system.equations) {
    std::map<spec::VariableId, std::int64_t> extents;
    for (const spec::Binder& b : equation.binders) extents[b.variable] = b.extent;
    spec::for_each(equation.value, [&](const Expr& e) {
      if (e.form() != Form::reduce) return;
      for (const spec::Binder& b : e->binders) extents[b.variable] = b.extent;
    });
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (!e.is(Primitive::le) || e->args[0].form() != Form::variable || e->args[1].form() != Form::variable)
        return std::nullopt;
      const std::int64_t shift = extents[e->args[0]->variable] - extents[e->args[1]->variable];
      if (shift == 0) return std::nullopt;
      return call(Primitive::le, e->args[0], e->args[1] + integer(shift));
    });
  }
}

// Gates of a stacked matrix in another order: the second and the third exchanged.
void gates_exchanged(System& system, spec::Mode) {
  rewrite_primal(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || e->args.empty() || !e->args.back().is(Primitive::add)) return std::nullopt;
    const Expr& offset = e->args.back()->args[0];
    if (offset.form() != Form::number || e->args.back()->args[1].form() != Form::variable) return std::nullopt;
    const Dims& dims = system[e->tensor].dims;
    const std::int64_t n = dims[dims.rank - 1] / 4;
    if (n == 0 || dims[dims.rank - 1] % 4 != 0) return std::nullopt;
    const std::int64_t gate = offset->number.mantissa / n;
    if (gate != 2 && gate != 3) return std::nullopt;
    std::vector<Expr> indices = e->args;
    indices.back() = integer((5 - gate) * n) + e->args.back()->args[1];
    return spec::with_args(e, indices);
  });
}

// Two locals of one shape share a buffer too early: the later one is never seen.
void stale_buffer(System& system) {
  std::vector<spec::TensorId> locals;
  std::map<spec::TensorId, spec::TensorId> shared;
  for (const spec::Equation& equation : system.equations) {
    if (is_output(system, equation.target) || shared.contains(equation.target)) continue;
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

constexpr std::array list{
    Mutant{"swap_last_indices", "a read has its last two indices exchanged",
           "strides of a transposed operand ignored: MPS and every young backend", "transpose,matmul,add",
           swap_last_indices},
    Mutant{"swapped_in_the_backward_pass", "cotangents are read with their last two indices exchanged",
           "gradients of matmul with the wrong transposition where shapes were square and nothing complained",
           "matmul,linear,transpose", swapped_in_the_backward_pass},
    Mutant{"border_clamps", "a read outside gives the nearest element instead of `else`",
           "edge padding where zeros were asked for", "conv2d,gather", border_clamps},
    Mutant{"negative_index_wraps", "an index below 0 counts from the end",
           "index kernels written for one framework and reused by another", "gather,take_along_axis",
           negative_index_wraps},
    Mutant{"guard_lost", "a guarded sum counts what its guard leaves out", "masks of the last tile left out",
           "scatter_add,conv_transpose1d,avg_pool1d", guard_lost},
    Mutant{"stride_off_by_one", "a stride is one too small", "leading dimensions mixed up with extents",
           "conv2d,max_pool2d,slice", stride_off_by_one},
    Mutant{"dilation_ignored", "windows are not dilated",
           "TVM 19524, PyTorch 14272: dilation lost on the way to a kernel", "conv1d,max_pool1d", dilation_ignored},
    Mutant{"padding_off_by_one", "windows begin one too late", "asymmetric padding split the wrong way by converters",
           "conv1d,avg_pool1d", padding_off_by_one},
    Mutant{"kernel_flipped", "a kernel is read backwards",
           "Theano convolved, everybody else correlated; weights converted without flipping", "conv1d,conv2d",
           kernel_flipped},
    Mutant{"group_lost", "every group reads the first group", "grouped convolutions without the group's offset",
           "conv1d,group_norm", group_lost},
    Mutant{"nearest_rounds", "upsampling rounds to the nearest source",
           "ONNX Resize: half_pixel and asymmetric coordinates mixed up", "upsample_nearest1d", nearest_rounds},
    Mutant{"roll_backwards", "elements roll the other way",
           "sign conventions of shift differ between NumPy and shader code", "roll", roll_backwards},
    Mutant{"duplicates_overwrite_gradient", "of equal indices the last one alone passes its cotangent on",
           "PyTorch 1631, MXNet 9172, Paddle 17662: gradient of gather overwrites", "gather,take_along_axis,embedding",
           duplicates_overwrite_gradient},
    Mutant{"duplicates_overwrite_values", "of equal indices the last one alone is added",
           "scatter without atomics: additions lost", "scatter_add,scatter_add_along_axis",
           duplicates_overwrite_values},
    Mutant{"aligned_left", "an operand of lower rank is aligned with the first axes",
           "MATLAB's and Fortran's habit in a broadcasting kernel", "add,mul,fma", aligned_left},
    Mutant{"broadcast_read_densely", "a broadcast operand is read as if it had no zero strides",
           "expanded tensors passed to kernels that assume dense ones", "add,mul,where", broadcast_read_densely},
    Mutant{"diagonal_left_out", "the diagonal belongs to the wrong triangle",
           "causal masks that forbid a token to see itself", "tril,triu,scaled_dot_product_attention",
           diagonal_left_out},
    Mutant{"mask_aligned_to_the_end", "causal masks of matrices that are not square are aligned with the last column",
           "FlashAttention changed the alignment between versions 2.0 and 2.1", "scaled_dot_product_attention",
           mask_aligned_to_the_end},
    Mutant{"gates_exchanged", "cell gate and output gate are exchanged", "ONNX orders the gates iofc, PyTorch ifgo",
           "lstm_cell", gates_exchanged},
    Mutant{"stale_buffer", "two locals of one shape share a buffer too early",
           "memory planners that freed a tensor before its last reader ran", "softmax,layer_norm,log_softmax,adam",
           nullptr, nullptr, stale_buffer},
};

}  // namespace

std::span<const Mutant> indices() { return list; }

}  // namespace etalon::mutants
