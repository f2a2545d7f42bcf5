#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "spec/program/analysis.hpp"
#include "spec/program/name.hpp"
#include "spec/program/program.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

/// Names as messages quote them: nothing has checked them yet.
[[nodiscard]] std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(as_quoted(name));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

[[nodiscard]] std::string seed_list(const Differentiate& step) {
  std::vector<std::string> names;
  for (const auto& seed : step.seeds) names.push_back(seed.value_or("_"));
  return names.empty() ? "" : "; " + list_of(names);
}

}  // namespace

bool is_value_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !name.empty() && name != "_" && letter(name[0]) && std::all_of(name.begin(), name.end(), rest);
}

std::string position(const Source& source) {
  return source.file.empty() ? "" : fmt::format("{}:{}", on_one_line(source.file), source.line);
}

std::string at(const Source& source) {
  const std::string where = position(source);
  return (where.empty() ? "" : " at " + where) + (source.section.empty() ? "" : fmt::format(" in section \"{}\"", as_quoted(source.section)));
}

std::string summary(const Call& call) {
  std::vector<std::string> operands;
  for (const auto& operand : call.operands) operands.push_back(operand.value_or("_"));
  return fmt::format("{} = {}({})", list_of(call.results), as_quoted(call.operation), list_of(operands));
}

std::string in_definition(const Diagnosis& diagnosis) {
  const std::string where = diagnosis.line == 0 ? "" : fmt::format(" (at {}:{} of its definition)", diagnosis.line, diagnosis.column);
  return std::string(diagnosis.rule()) + where;
}

std::string summary(const Differentiate& step) {
  return fmt::format("{} = {}({}; {}{})", list_of(step.results), step.mode == Differentiate::Mode::vjp ? "vjp" : "jvp",
                     list_of(step.of), list_of(step.wrt), seed_list(step));
}

}  // namespace etalon::spec
