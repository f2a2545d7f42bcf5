#include "conformance/explanation.hpp"

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "conformance/sample.hpp"
#include "reference/backend.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/program/number_text.hpp"
#include "spec/protocol/json.hpp"
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
  if (e.form() != Form::apply || e.kind() != Kind::real) return "";
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

void print_found(std::ostream& out, const char* title, const std::set<std::string>& lines, const char* otherwise) {
  out << '\n' << title << '\n';
  for (const std::string& line : lines) out << "  " << line << '\n';
  if (lines.empty()) out << "  " << otherwise << '\n';
}

void print_indented(std::ostream& out, const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out << "  " << text.substr(begin, end - begin) << '\n';
    begin = end + 1;
  }
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

[[nodiscard]] std::string shortened(const HostTensor& tensor) {
  const std::string text = spec::elements_text(tensor);
  constexpr std::size_t longest = 160;
  return text.size() <= longest ? text : text.substr(0, text.rfind(',', longest)) + ", …]";
}

[[nodiscard]] std::string admitted(const reference::Envelope& envelope, std::size_t i) {
  const std::uint8_t flags = envelope.flags[i];
  if ((flags & reference::undecided) != 0) return "any value: the bound says nothing here";
  std::vector<std::string> choices;
  if ((flags & reference::admits_finite) != 0) choices.push_back(fmt::format("between {} and {}", envelope.lower[i], envelope.upper[i]));
  if ((flags & reference::admits_positive_infinity) != 0) choices.emplace_back("inf");
  if ((flags & reference::admits_negative_infinity) != 0) choices.emplace_back("-inf");
  if ((flags & reference::admits_nan) != 0) choices.emplace_back("nan");
  return fmt::format("{}", fmt::join(choices, ", or "));
}

/// The first elements of a tensor with what is admitted for each.
void print_bounds(std::ostream& out, const std::string& name, const HostTensor& value, const reference::Envelope& envelope) {
  out << fmt::format("  {} : {}\n", name, to_string(spec::ValueType{value.dtype, value.dims}));
  if (kind_of(value.dtype) != Kind::real) {
    out << "    " << shortened(value) << ", exactly\n";
    return;
  }
  constexpr std::size_t most = 6;
  for (std::size_t i = 0; i < envelope.lower.size() && i < most; ++i) {
    const std::string number = value.dtype == DType::f64 ? fmt::format("{}", value.view<double>()[i]) : fmt::format("{}", value.view<float>()[i]);
    out << fmt::format("    {:<24} {}\n", number, admitted(envelope, i));
  }
  if (envelope.lower.size() > most) out << fmt::format("    … {} more\n", envelope.lower.size() - most);
}

/// The types and attributes of the sample call.
void print_call(std::ostream& out, const spec::Definition& definition, const CallTypes& call, const spec::Instance& instance) {
  std::vector<std::string> operands;
  for (const auto& operand : call.operands) operands.push_back(operand ? to_string(*operand) : "absent");
  std::vector<std::string> attributes;
  for (const auto& [name, value] : instance.attributes) attributes.push_back(name + " = " + spec::to_line(spec::attribute_to_json(value)));
  std::vector<std::string> results;
  for (const spec::ValueType& result : instance.results) results.push_back(to_string(result));
  out << fmt::format("\ntyping, at a sample call\n  {}({})", definition.name, fmt::join(operands, ", "));
  if (!attributes.empty()) out << fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  out << fmt::format(" -> {}\n", fmt::join(results, ", "));
}

/// The equations that the call stands for.
void print_equations(std::ostream& out, const System& system) {
  out << "\nequations of that call\n";
  print_indented(out, to_text(system));
}

/// Where the equations have values and derivatives, and what is chosen at kinks.
void print_domain(std::ostream& out, const System& system) {
  std::set<std::string> conditions, choices;
  for (const spec::Equation& equation : system.equations) {
    for_each(equation.value, [&](const Expr& e) {
      if (const std::string condition = domain_of(system, e); !condition.empty()) conditions.insert(condition);
    });
    add_kinks(system, equation.value, choices);
  }
  print_found(out, "domain", conditions, "all numbers");
  print_found(out, "kinks and constants", choices,
              real_inputs(system).empty() || !has_real_output(system) ? "none: it has no derivative" : "none: smooth on its domain");
}

[[nodiscard]] std::string none_or_lines(const std::string& equations) {
  return equations.empty() ? "none: operands or results are not real\n" : equations;
}

void print_derivative(std::ostream& out, const System& system) {
  out << "\nreverse derivative: cotangents (x~) of the operands, given those of the results\n";
  print_indented(out, none_or_lines(vjp_text(system)));
}

/// The equations of a derivative alone, without those of the results.
[[nodiscard]] std::string text_of(System derivative, std::size_t results) {
  derivative.outputs.erase(derivative.outputs.begin(), derivative.outputs.begin() + static_cast<std::ptrdiff_t>(results));
  spec::solve_guards(derivative);
  spec::remove_dead(derivative);
  return to_text(derivative);
}

/// Operands, results and cotangents in numbers, with the interval that careful IEEE arithmetic admits for each.
void print_example(std::ostream& out, const Case& sample, const System& system) {
  const std::unique_ptr<spec::Backend> backend = reference::make_reference_backend();
  spec::Request request = request_of(sample);
  request.mode = spec::Mode::forward;
  const spec::Answer answer = backend->run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw InternalError("explain: " + refusal->why);
  out << "\nworked example\n";
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    out << fmt::format("  {} = {}\n", system[system.inputs[i]].name, shortened(request.inputs[i]));
  out << "\nresults, and what careful IEEE arithmetic in any order may return\n";
  const reference::Envelopes found = reference::envelopes(system, request.inputs, spec::Contract{});
  const auto& outputs = std::get<spec::Numbers>(answer).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) print_bounds(out, system[system.outputs[i]].name, outputs[i], found.outputs[i]);
  if (sample.mode != spec::Mode::vjp) return;
  request = request_of(sample);
  const spec::Answer back = backend->run(request);
  if (!std::holds_alternative<spec::Numbers>(back)) return;
  out << "\ncotangents of the operands\n";
  for (std::size_t i = 0; i < request.cotangents.size(); ++i) {
    if (request.cotangents[i]) out << fmt::format("  {}~ = {} is given\n", system[system.outputs[i]].name, shortened(*request.cotangents[i]));
  }
  const auto& cotangents = std::get<spec::Numbers>(back).cotangents;
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (cotangents[i]) out << fmt::format("  {}~ = {}\n", system[system.inputs[i]].name, shortened(*cotangents[i]));
  }
}

}  // namespace

std::string vjp_text(const System& system) {
  const std::vector<std::size_t> wrt = real_inputs(system);
  return wrt.empty() || !has_real_output(system) ? "" : text_of(spec::vjp(system, wrt), system.outputs.size());
}

std::string jvp_text(const System& system) {
  const std::vector<std::size_t> wrt = real_inputs(system);
  return wrt.empty() || !has_real_output(system) ? "" : text_of(spec::jvp(system, wrt), system.outputs.size());
}

void explain(std::ostream& out, const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number) {
  const spec::Definition& definition = library.named(operation);
  out << definition.text << (definition.text.ends_with('\n') ? "" : "\n");
  const std::optional<Case> sample = sample_call(library, operation, dtype, number);
  if (!sample) {
    out << "\nno sample call of " << operation << " was found for " << name_of(dtype) << '\n';
    return;
  }
  const spec::Instance instance = instance_of(*sample);
  print_call(out, definition, sample->call, instance);
  print_equations(out, instance.system);
  print_domain(out, instance.system);
  print_derivative(out, instance.system);
  print_example(out, *sample, instance.system);
}

}  // namespace etalon::conformance
