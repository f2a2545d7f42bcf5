// Steps of optimizers.
#include <algorithm>
#include <array>

#include "conformance/values.hpp"
#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using spec::Answer;
using spec::Numbers;
using spec::Request;

void no_bias_correction(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::pow) || !is_closed(e->args[0])) return std::nullopt;
    return spec::decimal(0);
  });
}

void second_moment_uncorrected(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || !is_real(e->args[0], Primitive::div)) return std::nullopt;
    return call(Primitive::sqrt, e->args[0]->args[0]);
  });
}

void epsilon_inside_root(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !e->args[0].is(Primitive::sqrt) || !is_closed(e->args[1])) return std::nullopt;
    return call(Primitive::sqrt, e->args[0]->args[0] + e->args[1]);
  });
}

void epsilon_missing(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !e->args[0].is(Primitive::sqrt) || !is_closed(e->args[1])) return std::nullopt;
    return e->args[0];
  });
}

void epsilon_missing_at_odd_sizes(System& system, spec::Mode mode) {
  if (system.outputs.empty() || system[system.outputs[0]].dims.count() % 2 == 0) return;
  epsilon_missing(system, mode);
}

// p*(1 - lr*wd) - step becomes (p - step)*(1 - lr*wd).
void decay_after_step(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || !is_real(e->args[0], Primitive::mul) || !is_closed(e->args[0]->args[1]))
      return std::nullopt;
    if (e->args[0]->args[0].form() != Form::read || is_closed(e->args[1])) return std::nullopt;
    return (e->args[0]->args[0] - e->args[1]) * e->args[0]->args[1];
  });
}

void decay_without_rate(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::sub) || !is_closed(e) || !is_real(e->args[1], Primitive::mul)) return std::nullopt;
    return e->args[0] - e->args[1]->args[1];
  });
}

spec::TensorId continued(const System& system, spec::TensorId state) { return system.find(system[state].name + "1"); }

void old_state_used(System& system, spec::Mode) {
  for (spec::Equation& equation : system.equations) {
    equation.value = rewritten(equation.value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || e.kind() != Kind::real || is_input(system, e->tensor)) return std::nullopt;
      for (const spec::TensorId in : system.inputs) {
        if (continued(system, in) == e->tensor) return system.at(in, e->args);
      }
      return std::nullopt;
    });
  }
}

void new_state_used(System& system, spec::Mode) {
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    const spec::TensorId target = system.equations[i].target;
    if (!is_output(system, target)) continue;
    system.equations[i].value = rewritten(system.equations[i].value, [&](const Expr& e) -> std::optional<Expr> {
      if (e.form() != Form::read || !is_input(system, e->tensor)) return std::nullopt;
      const spec::TensorId next = continued(system, e->tensor);
      if (next < 0 || next == target) return std::nullopt;
      for (std::size_t k = 0; k < i; ++k) {
        if (system.equations[k].target == next) return system.at(next, e->args);
      }
      return std::nullopt;
    });
  }
}

// Conditions on the step count take the branch of later steps.
void first_step_like_any(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::eq) || e->args[0].kind() != Kind::integer || !e->args[1].is_integer(1)) return std::nullopt;
    return spec::boolean(false);
  });
}

void running_maximum_lost(System& system, spec::Mode) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::maximum) || e->args[0].form() != Form::read || !is_input(system, e->args[0]->tensor))
      return std::nullopt;
    if (continued(system, e->args[0]->tensor) < 0) return std::nullopt;
    return e->args[1];
  });
}

void count_from_zero(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::to_real) || e->args[0].form() != Form::read || e->args[0].kind() != Kind::integer)
      return std::nullopt;
    return call(Primitive::to_real, e->args[0] + spec::integer(1));
  });
}

void norm_of_last_gradient(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !is_reduce(e->args[1], Reduction::sum)) return std::nullopt;
    if (!is_reduce(e->args[0], Reduction::sum) && !is_real(e->args[0], Primitive::add)) return std::nullopt;
    return e->args[1];
  });
}

void quotient_of_clipping_unbounded(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != Form::select || constant(e->args[1]) != 1.0 || !is_real(e->args[2], Primitive::div))
      return std::nullopt;
    return e->args[2];
  });
}

void rate_inside_momentum(System& system, spec::Mode) {
  // (1 - dampening)*d is left undamped.
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::mul) || !is_real(e->args[0], Primitive::sub) || !is_closed(e->args[0]) || is_closed(e))
      return std::nullopt;
    if (constant(e->args[0]->args[0]) != 1.0) return std::nullopt;
    return e->args[1];
  });
}

void square_root_missing(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !e->args[0].is(Primitive::sqrt) || !is_closed(e->args[1])) return std::nullopt;
    return e->args[0]->args[0] + e->args[1];
  });
}

void decay_of_new_parameter_sign(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::add) || !is_real(e->args[1], Primitive::mul) || e->args[0].form() != Form::read)
      return std::nullopt;
    if (!is_closed(e->args[1]->args[0]) || e->args[1]->args[1].form() != Form::read) return std::nullopt;
    return e->args[0] - e->args[1];
  });
}

Answer state_not_written_back(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->outputs.size() < 2) return answer;
  const std::string& last = request.program.outputs.back();
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.program.inputs[i].name + "1" == last) numbers->outputs.back() = request.inputs[i];
  }
  return answer;
}

Answer accumulator_starts_above_zero(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (std::size_t i = 0; i < other.inputs.size(); ++i) {
    HostTensor& t = other.inputs[i];
    const std::string next = other.program.inputs[i].name + "1";
    const auto& outputs = other.program.outputs;
    if (!is_real(t) || std::find(outputs.begin(), outputs.end(), next) == outputs.end()) continue;
    bool zero = true;
    for (std::size_t k = 0; k < count(t); ++k) zero = zero && conformance::element(t, k) == 0;
    if (zero) fill(t, 0.1);
  }
  return sound(other);
}

Answer parameter_shared_with_gradient(const Request& request, const Sound& sound, Memory&) {
  // The step is applied twice to the elements of an unaligned tail.
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->outputs.empty() || request.inputs.empty()) return answer;
  HostTensor& q = numbers->outputs.front();
  const HostTensor& p = request.inputs.front();
  if (!is_real(q) || !(q.dims == p.dims) || q.dtype != p.dtype) return answer;
  for (std::size_t i = count(q) - count(q) % 4; i < count(q); ++i)
    conformance::set_element(q, i, 2 * conformance::element(q, i) - conformance::element(p, i));
  return answer;
}

constexpr auto rewriting = [](std::string_view name, std::string_view defect, std::string_view history,
                              std::string_view operations, void (*rewrite)(System&, spec::Mode)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .rewrite = rewrite};
};
constexpr auto responding = [](std::string_view name, std::string_view defect, std::string_view history,
                               std::string_view operations, Answer (*respond)(const Request&, const Sound&, Memory&)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .respond = respond};
};

constexpr std::array list{
    rewriting("no_bias_correction", "the moments are not corrected for their start", "MLX 1640, unsloth-zoo 819",
              "adam,adamw", no_bias_correction),
    rewriting("second_moment_uncorrected", "the second moment is not corrected for its start",
              "one of two corrections lost in a refactoring", "adam,nadam", second_moment_uncorrected),
    rewriting("epsilon_inside_root", "epsilon is added under the root",
              "Flux 448, TensorFlow 9047, RMSprop in PyTorch 23796", "adam,rmsprop,adagrad", epsilon_inside_root),
    rewriting("epsilon_missing", "epsilon is not added to the root",
              "division by 0 at parameters that never had a gradient", "adam,adagrad", epsilon_missing),
    rewriting("epsilon_missing_at_odd_sizes", "epsilon is added to tensors of an even number of elements alone",
              "PyTorch 119885: _foreach_add missed tensors of some shapes", "adam,rmsprop",
              epsilon_missing_at_odd_sizes),
    rewriting("decay_after_step", "decoupled decay comes after the step",
              "bitsandbytes 2010, 2040: one order on the GPU, the other on the CPU", "adamw,lion", decay_after_step),
    rewriting("decay_without_rate", "decoupled decay is not scaled by the learning rate",
              "Apex 1849: decay coupled to the rate or not", "adamw,lion", decay_without_rate),
    rewriting("old_state_used", "the step is made with the state of the last one",
              "moments updated after the parameter", "adam,sgd,adagrad", old_state_used),
    rewriting("new_state_used", "a step reads state that it has overwritten", "updates in place in the wrong order",
              "lion,adadelta", new_state_used),
    rewriting("first_step_like_any", "the first step is damped like any other",
              "MLX 87: the momentum buffer began as zeros", "sgd", first_step_like_any),
    rewriting("running_maximum_lost", "the largest second moment so far is forgotten",
              "AMSGrad by a maximum of two new values", "amsgrad,adamax", running_maximum_lost),
    rewriting("count_from_one_too_many", "the step count is one ahead", "PyTorch 62135: counts of skipped steps",
              "adam,nadam,radam", count_from_zero),
    rewriting("norm_of_last_gradient", "the norm of all gradients is that of the last",
              "clipping per tensor where it was to be global", "clip_by_norm", norm_of_last_gradient),
    rewriting("small_gradients_enlarged", "gradients below the largest norm are scaled up to it",
              "the minimum with 1 forgotten in a clipping coefficient", "clip_by_norm", quotient_of_clipping_unbounded),
    rewriting("new_share_undamped", "the new value enters an average with weight 1",
              "dampening and 1 - beta forgotten, as in Adam variants of several papers' code", "sgd,adam",
              rate_inside_momentum),
    rewriting("root_missing", "the second moment itself is the divisor", "sqrt dropped with an approximation of rsqrt",
              "adam,rmsprop", square_root_missing),
    rewriting("decay_sign", "weight decay is subtracted from the gradient",
              "sign conventions of the penalty in configuration files", "sgd,adam", decay_of_new_parameter_sign),
    responding("state_not_written_back", "the last state is never written",
               "PyTorch 78807: AMSGrad's maximum was not written back", "amsgrad,adam", state_not_written_back),
    responding("accumulator_starts_at_one_tenth", "state that begins with 0 begins with 0.1",
               "Deeplearning4j 953, PyTorch 6616: Adagrad's initial accumulator", "adagrad,rmsprop",
               accumulator_starts_above_zero),
    responding("tail_stepped_twice", "the last elements are stepped twice",
               "vectorised steps whose scalar remainder overlaps", "sgd,adam", parameter_shared_with_gradient),
};

}  // namespace

std::span<const Mutant> optimizers() { return list; }

}  // namespace etalon::mutants
