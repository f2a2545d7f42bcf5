// Equations of tangents and cotangents that say something else than the derivative.
#include <algorithm>
#include <array>
#include <map>

#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

// Only one use of a value passes its cotangent on: the second overwrites the first.
void fan_in_overwritten(System& system, spec::Mode mode) {
  if (mode != spec::Mode::vjp) return;
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_real(e, Primitive::add)) return e->args[1];
    return std::nullopt;
  });
}

void first_use_alone_in_jvp(System& system, spec::Mode mode) {
  if (mode != spec::Mode::jvp) return;
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_real(e, Primitive::add)) return e->args[0];
    return std::nullopt;
  });
}

void negation_lost(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.is(Primitive::neg)) return e->args[0];
    return std::nullopt;
  });
}

// The derivative at a tie gives each side the whole instead of one half.
void tie_counted_twice(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() == Form::number && e.kind() == Kind::real && constant(e) == 0.5) return spec::decimal(1);
    return std::nullopt;
  });
}

void tie_to_neither(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() == Form::number && e.kind() == Kind::real && constant(e) == 0.5) return spec::decimal(0);
    return std::nullopt;
  });
}

// Strict comparisons of reals become non-strict: the other branch is taken at a kink.
void other_side_of_kinks(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_real(e, Primitive::gt)) return spec::apply(Primitive::ge, e->args);
    if (is_real(e, Primitive::lt)) return spec::apply(Primitive::le, e->args);
    if (is_real(e, Primitive::ge)) return spec::apply(Primitive::gt, e->args);
    if (is_real(e, Primitive::le)) return spec::apply(Primitive::lt, e->args);
    return std::nullopt;
  });
}

// The cotangent of a broadcast operand is not summed over what it was broadcast to.
void broadcast_not_reduced(System& system, spec::Mode mode) {
  if (mode != spec::Mode::vjp) return;
  bool reduces = false;
  for (const spec::Equation& equation : system.equations) {
    if (is_derivative(system, equation.target)) continue;
    spec::for_each(equation.value, [&](const Expr& e) { reduces = reduces || e.form() == Form::reduce; });
  }
  if (reduces) return;
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum)) return std::nullopt;
    std::vector<spec::Binder> binders = e->binders;
    for (spec::Binder& b : binders) b.extent = std::min<std::int64_t>(b.extent, 1);
    return reduced(e, binders, e->args[0], e->args[1]);
  });
}

void gradient_averaged(System& system, spec::Mode mode) {
  if (mode != spec::Mode::vjp) return;
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::sum) || e->args[0].form() != Form::number) return std::nullopt;
    std::int64_t count = 1;
    for (const spec::Binder& b : e->binders) count *= b.extent;
    if (count < 2) return std::nullopt;
    return e / spec::decimal(count);
  });
}

void divisor_not_squared(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (is_real(e, Primitive::div) && is_real(e->args[0], Primitive::div) && e->args[0]->args[1] == e->args[1])
      return e->args[0];
    return std::nullopt;
  });
}

// What the forward pass wrote over its operand is read as the operand.
void operand_overwritten(System& system, spec::Mode) {
  std::map<spec::TensorId, spec::TensorId> by;
  for (const spec::TensorId in : system.inputs) {
    for (const spec::TensorId out : system.outputs) {
      if (is_derivative(system, in) || is_derivative(system, out) || by.contains(in)) continue;
      if (system[in].dims == system[out].dims && system[in].dtype == system[out].dtype) by[in] = out;
    }
  }
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || !by.contains(e->tensor)) return std::nullopt;
    return system.at(by.at(e->tensor), e->args);
  });
}

// The number of cells in a window counts as if the window lay inside.
void overhang_divided_by_window(System& system, spec::Mode) {
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::read || kind_of(system[e->tensor].dtype) != Kind::integer) return std::nullopt;
    const Expr cells = looked_through(system, e);
    if (!is_reduce(cells, Reduction::sum) || !is_closed(cells->args[1])) return std::nullopt;
    std::int64_t count = 1;
    for (const spec::Binder& b : cells->binders) count *= b.extent;
    return spec::integer(count);
  });
}

// Every element that equals the extremum gets the whole cotangent.
std::optional<std::pair<Expr, Expr>> position_test(System& system, const Expr& e) {
  if (e.form() != Form::select || !e->args[0].is(Primitive::eq) || constant(e->args[2]) != 0.0) return std::nullopt;
  for (const std::size_t side : {0u, 1u}) {
    const Expr position = looked_through(system, e->args[0]->args[side]);
    const bool found = is_reduce(position, Reduction::argmax) || is_reduce(position, Reduction::argmin);
    if (found && position->binders.size() == 1) return std::pair{position, e->args[0]->args[1 - side]};
  }
  return std::nullopt;
}

Expr at_place(const Expr& position, const Expr& place) {
  return spec::substitute(position->args[1], {{position->binders[0].variable, place}});
}

Expr extremum_of(const Expr& position) {
  const Reduction kind = position->reduction == Reduction::argmax ? Reduction::max : Reduction::min;
  return spec::reduce(kind, position->binders, position->args[0], position->args[1], spec::decimal(0));
}

void extremum_to_all_ties(System& system, spec::Mode) {
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    const auto test = position_test(system, e);
    if (!test || test->first->args[0].form() != Form::number) return std::nullopt;
    return spec::select(call(Primitive::eq, at_place(test->first, test->second), extremum_of(test->first)), e->args[1],
                        e->args[2]);
  });
}

void extremum_shared_by_ties(System& system, spec::Mode) {
  rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
    const auto test = position_test(system, e);
    if (!test || test->first->args[0].form() != Form::number) return std::nullopt;
    const Expr top = extremum_of(test->first);
    const Expr again = spec::refresh(system, spec::reduce(Reduction::sum, test->first->binders, spec::boolean(true),
                                                          spec::select(call(Primitive::eq, test->first->args[1], top),
                                                                       spec::decimal(1), spec::decimal(0))));
    return spec::select(call(Primitive::eq, at_place(test->first, test->second), spec::refresh(system, top)),
                        e->args[1] / again, e->args[2]);
  });
}

void ties_to_the_last(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_reduce(e, Reduction::argmin)) return std::nullopt;
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

// Conditions that keep 0 * infinity out of a derivative are gone.
void condition_lost(System& system, spec::Mode) {
  rewrite_derivatives(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || constant(e->args[2]) != 0.0) return std::nullopt;
    bool powers = false;
    spec::for_each(e->args[1], [&](const Expr& sub) { powers = powers || sub.is(Primitive::pow); });
    if (!powers) return std::nullopt;
    return e->args[1];
  });
}

void second_derivative_tensor_stale(System& system, spec::Mode mode) {
  if (mode != spec::Mode::vjp) return;
  // The cotangent of the last local with the shape of an earlier one is read from that one's buffer.
  std::vector<spec::TensorId> cotangents;
  for (const spec::Equation& q : system.equations) {
    if (is_derivative(system, q.target) && !is_output(system, q.target)) cotangents.push_back(q.target);
  }
  if (cotangents.size() < 2) return;
  const spec::TensorId last = cotangents.back();
  for (const spec::TensorId earlier : cotangents) {
    if (earlier == last || system[earlier].dims != system[last].dims || system[earlier].dtype != system[last].dtype)
      continue;
    rewrite_derivatives(system, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || e->tensor != last) return std::nullopt;
      return system.at(earlier, e->args);
    });
    return;
  }
}

constexpr std::array list{
    Mutant{"fan_in_overwritten", "the second contribution to a cotangent overwrites the first",
           "gradient buffers written instead of added to: the first bug of most autograd engines", "mul,softmax,gelu",
           fan_in_overwritten},
    Mutant{"first_use_alone_in_jvp", "a tangent follows the first use of a value alone",
           "Raven 153: forward-mode handlers that propagate one operand", "mul,add,gelu", first_use_alone_in_jvp},
    Mutant{"negation_lost", "a negation in a derivative is dropped",
           "sign errors in hand-written backward functions, caught by nobody for div and sub", "sub,div,cos,l1",
           negation_lost},
    Mutant{"tie_counted_twice", "both sides of a tie get the whole cotangent",
           "Theano 4568, PyTorch 56734, ONNX Runtime 7217: gradient (1, 1) at equality", "maximum,minimum",
           tie_counted_twice},
    Mutant{"tie_to_neither", "neither side of a tie gets a cotangent", "maximum by two strict comparisons",
           "maximum,minimum", tie_to_neither},
    Mutant{"other_side_of_kinks", "the derivative at a kink is that of the other side",
           "relu6, clamp and hardtanh pass 0 or 1 at their ends as it happens", "relu,hinge,clamp,leaky_relu",
           other_side_of_kinks},
    Mutant{"broadcast_not_reduced", "the cotangent of a broadcast operand is not summed",
           "Burn 181, ND4J 2424, Aesara 1089: gradients of broadcast operands", "add,mul,sub", broadcast_not_reduced},
    Mutant{"gradient_averaged", "sums in cotangents are means",
           "bias gradients divided by the batch size, a second time after the loss", "linear,layer_norm,add",
           gradient_averaged},
    Mutant{"divisor_not_squared", "the derivative of a quotient lacks one division", "quotient rules from memory",
           "div,atan2,layer_norm", divisor_not_squared},
    Mutant{"operand_overwritten", "the derivative reads the result where it means the operand",
           "operations in place on tensors that were saved for the backward pass", "sin,log,mul", operand_overwritten},
    Mutant{"overhang_divided_by_window", "cotangents of a window that hangs over are divided by the whole window",
           "Burn 5604, PyTorch 198119: average pooling right forwards, wrong backwards",
           "avg_pool1d,adaptive_avg_pool1d", overhang_divided_by_window},
    Mutant{"extremum_to_all_ties", "every element equal to the extremum gets the cotangent",
           "x == max(x) as the mask of the gradient, in several engines", "max,min", extremum_to_all_ties},
    Mutant{"extremum_shared_by_ties", "elements equal to the extremum share the cotangent",
           "PyTorch 155071, Paddle 38393: amax and max disagree", "max,min", extremum_shared_by_ties},
    Mutant{"smallest_ties_to_the_last", "the derivative of a minimum goes to the last of equals",
           "min as the negative of max, read backwards", "min", ties_to_the_last},
    Mutant{"condition_lost", "the derivative of a power lacks its conditions",
           "PyTorch 27134, JAX 14397, MLX 628: NaN in the gradient of x^0 at 0", "pow", condition_lost},
    Mutant{"cotangent_buffer_stale", "a cotangent is read from the buffer of an earlier one",
           "memory reuse in backward passes, PyTorch 183825", "layer_norm,softmax,gru_cell",
           second_derivative_tensor_stale},
};

}  // namespace

std::span<const Mutant> derivatives() { return list; }

}  // namespace etalon::mutants
