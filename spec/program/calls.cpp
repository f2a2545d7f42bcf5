#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/nearest.hpp"
#include "spec/notation/definition.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/name.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

/// A derivative without the sign between its lists.
[[noreturn]] void refuse_derivative(const Call& call) {
  std::vector<std::string> names;
  for (const auto& operand : call.operands) names.push_back(as_quoted(operand.value_or("_")));
  const bool one = names.size() < 2;
  const std::string of = names.empty() ? "y" : names.front();
  const std::string wrt = one ? "x" : fmt::format("{}", fmt::join(names.begin() + 1, names.end(), ", "));
  throw SpecViolation(fmt::format("{} takes lists with ';' between what is differentiated and by what: expected {}({}; {}), found {}({}){}",
                                  call.operation, call.operation, of, wrt, call.operation, fmt::join(names, ", "), at(call.source)));
}

}  // namespace

std::vector<std::string> runtime_attributes(const Call& call) {
  std::vector<std::string> names;
  for (const auto& [name, value] : call.attributes) {
    if (std::holds_alternative<ValueName>(value)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> values_read(const Call& call) {
  std::vector<std::string> names;
  for (const auto& operand : call.operands) {
    if (operand) names.push_back(*operand);
  }
  for (const auto& [name, value] : call.attributes) {
    if (const auto* runtime = std::get_if<ValueName>(&value)) names.push_back(runtime->name);
  }
  return names;
}

Instance instance_of(const Call& call, const std::map<std::string, ValueType>& types, const Library& library) {
  const Definition* definition = library.find(call.operation);
  if (definition == nullptr) {
    if (call.operation == "vjp" || call.operation == "jvp") refuse_derivative(call);
    std::vector<std::string> names;
    for (const Definition* known : library.definitions()) names.emplace_back(known->name);
    throw SpecViolation(fmt::format("{}; step {}{}", unknown_name("operation", call.operation, names), summary(call),
                                    at(call.source)));
  }
  std::vector<std::optional<ValueType>> operands;
  for (const auto& operand : call.operands)
    operands.push_back(operand ? std::optional(types.at(*operand)) : std::nullopt);
  try {
    return instantiate(*definition, operands, call.packs, call.attributes);
  } catch (const IllTyped& error) {
    throw SpecViolation(fmt::format("{}; step {}{}", in_definition(error.diagnosis()), summary(call), at(call.source)));
  } catch (const SpecViolation& error) {
    throw SpecViolation(fmt::format("{}; step {}{}", error.what(), summary(call), at(call.source)));
  }
}

Library library_of(const Program& program) {
  Library library;
  std::string all;
  for (const std::string& text : program.definitions) all += text + (text.ends_with('\n') ? "" : "\n");
  return all.empty() ? library : library.with(all);
}

}  // namespace etalon::spec
