#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/explanation.hpp"
#include "spec/program/number_text.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

void print_found(std::ostream& out, const char* title, const std::vector<std::string>& lines, const char* otherwise) {
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

void print_call(std::ostream& out, const std::string& name, const SampleCall& call) {
  std::vector<std::string> operands, attributes;
  for (const auto& operand : call.operands) operands.push_back(operand.value_or("absent"));
  for (const auto& [attribute, value] : call.attributes) attributes.push_back(attribute + " = " + spec::to_line(spec::attribute_to_json(value)));
  out << fmt::format("\ntyping, at a sample call\n  {}({})", name, fmt::join(operands, ", "));
  if (!attributes.empty()) out << fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  out << fmt::format(" -> {}\n", fmt::join(call.results, ", "));
}

void print_derived(std::ostream& out, const Derived& derived) {
  out << "\nequations of that call\n";
  print_indented(out, to_text(derived.equations));
  print_found(out, "domain", derived.domain, "all numbers");
  print_found(out, "kinks and constants", derived.kinks, derived.vjp ? "none: smooth on its domain" : "none: it has no derivative");
  out << "\nreverse derivative: cotangents (x~) of the operands, given those of the results\n";
  const std::string vjp = derived.vjp ? to_text(*derived.vjp) : "";
  print_indented(out, vjp.empty() ? "none: operands or results are not real\n" : vjp);
}

void print_example(std::ostream& out, const Example& example) {
  out << "\nworked example\n";
  for (const NamedTensor& operand : example.operands) out << fmt::format("  {} = {}\n", operand.name, shortened(operand.value));
  out << "\nresults, and what careful IEEE arithmetic in any order may return\n";
  for (std::size_t i = 0; i < example.results.size(); ++i)
    print_bounds(out, example.results[i].name, example.results[i].value, example.admitted[i]);
  if (!example.has_cotangents) return;
  out << "\ncotangents of the operands\n";
  for (const NamedTensor& given : example.given) out << fmt::format("  {} = {} is given\n", given.name, shortened(given.value));
  for (const NamedTensor& found : example.cotangents) out << fmt::format("  {} = {}\n", found.name, shortened(found.value));
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::ostringstream out;
  out << explanation.definition << (explanation.definition.ends_with('\n') ? "" : "\n");
  if (!explanation.derived) {
    out << "\nno sample call of " << explanation.name << " was found for " << name_of(explanation.dtype) << '\n';
    return out.str();
  }
  print_call(out, explanation.name, explanation.derived->call);
  print_derived(out, *explanation.derived);
  if (explanation.example) print_example(out, *explanation.example);
  return out.str();
}

}  // namespace etalon::conformance
