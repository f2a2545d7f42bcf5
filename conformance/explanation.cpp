#include "conformance/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/sample.hpp"
#include "reference/backend.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::System;

/// A condition on the arguments of a primitive; `{0}` and `{1}` are their texts.
struct Rule {
  Primitive primitive;
  const char* text;
};

constexpr Rule domains[] = {
    {Primitive::log, "{0} > 0"},
    {Primitive::log2, "{0} > 0"},
    {Primitive::log1p, "{0} > -1"},
    {Primitive::tan, "{0} no odd multiple of pi/2"},
    {Primitive::atan2, "{0} and {1} not both 0"},
    {Primitive::modulo, "{1} != 0"},
    {Primitive::sqrt, "{0} >= 0; for the derivative {0} > 0"},
    {Primitive::div, "{1} != 0"},
    {Primitive::pow, "{0} > 0, or {1} a whole number"},
};

constexpr Rule kinks[] = {
    {Primitive::maximum, "maximum: where {0} = {1}, each side gets half of the derivative"},
    {Primitive::minimum, "minimum: where {0} = {1}, each side gets half of the derivative"},
    {Primitive::abs, "abs: at {0} = 0 the derivative is 0"},
    {Primitive::sign, "sign: the derivative is 0 everywhere"},
    {Primitive::floor, "floor: the derivative is 0 everywhere"},
    {Primitive::ceil, "ceil: the derivative is 0 everywhere"},
    {Primitive::trunc, "trunc: the derivative is 0 everywhere"},
    {Primitive::round, "round: the derivative is 0 everywhere"},
    {Primitive::modulo, "%: its jumps, where {0} is a multiple of {1}, do not count in the derivative"},
    {Primitive::atan2, "atan2: its jump, where {1} < 0 and {0} = 0, does not count in the derivative"},
};

[[nodiscard]] bool reads_real(const Expr& e) {
  bool found = false;
  for_each(e, [&](const Expr& part) { found = found || (part.form() == Form::read && part.kind() == Kind::real); });
  return found;
}

[[nodiscard]] std::string filled(const char* rule, const System& system, const Expr& e) {
  const std::string first = e->args.empty() ? "" : to_text(system, e->args[0]);
  const std::string second = e->args.size() < 2 ? "" : to_text(system, e->args[1]);
  return fmt::format(fmt::runtime(rule), first, second);
}

/// What the expression asks of its arguments, or nothing.
[[nodiscard]] std::string domain_of(const System& system, const Expr& e) {
  if (e.form() != Form::apply || e.kind() != Kind::real || e->args.empty()) return "";
  for (const Rule& rule : domains) {
    const Expr& restricted = e->args.size() == 2 && (rule.primitive == Primitive::div || rule.primitive == Primitive::modulo) ? e->args[1] : e->args[0];
    if (e.is(rule.primitive) && reads_real(restricted)) return filled(rule.text, system, e);
  }
  return "";
}

[[nodiscard]] std::string kink_of(const System& system, const Expr& e) {
  if (e.form() == Form::select && reads_real(e->args[0]))
    return fmt::format("if: the derivative is that of the branch which {} chooses; the other is not looked at", to_text(system, e->args[0]));
  if (e.form() == Form::detach) return fmt::format("detach: {} counts as a constant", to_text(system, e->args[0]));
  if (e.form() == Form::reduce && e.kind() == Kind::real && (e->reduction == spec::Reduction::max || e->reduction == spec::Reduction::min))
    return fmt::format("{}: at ties the first gets the whole derivative", name_of(e->reduction));
  if (e.form() != Form::apply || e.kind() != Kind::real) return "";
  for (const Rule& rule : kinks) {
    if (e.is(rule.primitive) && reads_real(e)) return filled(rule.text, system, e);
  }
  return "";
}

/// The kinks of an expression; what is detached has no derivative that could have any.
void add_kinks(const System& system, const Expr& e, std::set<std::string>& lines) {
  if (const std::string line = kink_of(system, e); !line.empty()) lines.insert(line);
  if (e.form() == Form::detach) return;
  for (const Expr& part : e->args) add_kinks(system, part, lines);
}

[[nodiscard]] std::vector<std::size_t> real_inputs(const System& system) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < system.inputs.size(); ++i) {
    if (kind_of(system[system.inputs[i]].dtype) == Kind::real) positions.push_back(i);
  }
  return positions;
}

[[nodiscard]] bool has_real_output(const System& system) {
  return std::any_of(system.outputs.begin(), system.outputs.end(), [&](spec::TensorId id) { return kind_of(system[id].dtype) == Kind::real; });
}

/// The equations of a derivative alone, without those of the results.
[[nodiscard]] System alone(System derivative, std::size_t results) {
  derivative.outputs.erase(derivative.outputs.begin(), derivative.outputs.begin() + static_cast<std::ptrdiff_t>(results));
  spec::solve_guards(derivative);
  spec::remove_dead(derivative);
  return derivative;
}

/// Where the equations have values and derivatives, and what is chosen at kinks.
void find_domain(Derived& derived) {
  std::set<std::string> conditions, choices;
  const System& system = derived.equations;
  for (const spec::Equation& equation : system.equations) {
    for_each(equation.value, [&](const Expr& e) {
      if (const std::string condition = domain_of(system, e); !condition.empty()) conditions.insert(condition);
    });
    add_kinks(system, equation.value, choices);
  }
  derived.domain.assign(conditions.begin(), conditions.end());
  derived.kinks.assign(choices.begin(), choices.end());
}

void find_derivatives(Derived& derived) {
  const System& system = derived.equations;
  const std::vector<std::size_t> wrt = real_inputs(system);
  if (wrt.empty() || !has_real_output(system)) return;
  derived.jvp = alone(spec::jvp(system, wrt), system.outputs.size());
  derived.vjp = alone(spec::vjp(system, wrt), system.outputs.size());
}

/// Operands, results and cotangents in numbers, with the interval that careful IEEE arithmetic admits for each.
[[nodiscard]] Example example_of(const Case& sample, const System& system) {
  const std::unique_ptr<spec::Backend> backend = reference::make_reference_backend();
  spec::Request request = request_of(sample);
  request.mode = spec::Mode::forward;
  const spec::Answer answer = backend->run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw InternalError("explain: " + refusal->why);
  Example example;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) example.operands.push_back({system[system.inputs[i]].name, request.inputs[i]});
  example.admitted = reference::envelopes(system, request.inputs, spec::Contract{}).outputs;
  const auto& outputs = std::get<spec::Numbers>(answer).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) example.results.push_back({system[system.outputs[i]].name, outputs[i]});
  if (sample.mode != spec::Mode::vjp) return example;
  request = request_of(sample);
  const spec::Answer back = backend->run(request);
  if (!std::holds_alternative<spec::Numbers>(back)) return example;
  example.has_cotangents = true;
  for (std::size_t i = 0; i < request.cotangents.size(); ++i) {
    if (request.cotangents[i]) example.given.push_back({system[system.outputs[i]].name + "~", *request.cotangents[i]});
  }
  const auto& cotangents = std::get<spec::Numbers>(back).cotangents;
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (cotangents[i]) example.cotangents.push_back({system[system.inputs[i]].name + "~", *cotangents[i]});
  }
  return example;
}

/// The types and attributes of the sample call as text.
[[nodiscard]] SampleCall call_text(const CallTypes& call, const spec::Instance& instance) {
  SampleCall text;
  for (const auto& operand : call.operands) text.operands.push_back(operand ? std::optional(to_string(*operand)) : std::nullopt);
  text.attributes = instance.attributes;
  for (const spec::ValueType& result : instance.results) text.results.push_back(to_string(result));
  return text;
}

/// The sample and what is derived of it, or nothing.
[[nodiscard]] std::optional<std::pair<Case, Derived>> derived_sample(const spec::Library& library, const std::string& operation, DType dtype,
                                                                     std::uint64_t number) {
  std::optional<Case> sample = sample_call(library, operation, dtype, number);
  if (!sample) return std::nullopt;
  const spec::Instance instance = instance_of(*sample);
  Derived derived{call_text(sample->call, instance), instance.system, std::nullopt, std::nullopt, {}, {}};
  find_domain(derived);
  find_derivatives(derived);
  return std::pair(std::move(*sample), std::move(derived));
}

[[nodiscard]] Explanation named(const spec::Library& library, const std::string& operation, DType dtype) {
  const spec::Definition& definition = library.named(operation);
  return {std::string(definition.name), std::string(definition.text), dtype, std::nullopt, std::nullopt};
}

}  // namespace

Explanation derivation_of(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number) {
  Explanation explanation = named(library, operation, dtype);
  if (auto found = derived_sample(library, operation, dtype, number)) explanation.derived = std::move(found->second);
  return explanation;
}

Explanation explanation_of(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number) {
  Explanation explanation = named(library, operation, dtype);
  if (auto found = derived_sample(library, operation, dtype, number)) {
    explanation.example = example_of(found->first, found->second.equations);
    explanation.derived = std::move(found->second);
  }
  return explanation;
}

}  // namespace etalon::conformance
