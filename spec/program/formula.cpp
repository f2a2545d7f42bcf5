#include "spec/program/formula.hpp"

#include <set>

#include "spec/program/assignment.hpp"

namespace etalon::spec {
namespace {

/// The names of the values so far.
[[nodiscard]] std::set<std::string> values_of(const Program& program) {
  std::set<std::string> names;
  for (const Input& input : program.inputs) names.insert(input.name);
  for (const Buffer& buffer : program.buffers) names.insert(buffer.name);
  for (const auto& step : program.steps) {
    if (const auto* call = std::get_if<Call>(&step)) names.insert(call->results.begin(), call->results.end());
    if (const auto* derivative = std::get_if<Differentiate>(&step)) names.insert(derivative->results.begin(), derivative->results.end());
    if (const auto* assign = std::get_if<Assign>(&step)) names.insert(assign->buffer);
  }
  return names;
}

}  // namespace

std::string formula_as_assignment(const Program& program, const std::string& result, std::string_view rest) {
  const std::string_view formula = rest.substr(0, rest.find_first_of("#@"));
  const std::set<std::string> values = values_of(program);
  const std::string indexed = with_values(formula.substr(0, formula.find_last_not_of(" \t\r") + 1), [&](std::string& name) {
    if (values.contains(name)) name += "[...]";
  });
  return "buffer " + result + "[...] = " + indexed;
}

}  // namespace etalon::spec
