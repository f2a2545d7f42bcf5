#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "spec/program/analysis.hpp"
#include "spec/program/number_text.hpp"
#include "spec/program/program.hpp"
#include "spec/program/wishes.hpp"

namespace etalon::spec {
namespace {

[[nodiscard]] bool is_plain_symbol(const std::string& s) {
  if (s.empty() || s == "true" || s == "false" || s == "nan" || s == "inf" || s == "real") return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return true;
}

/// In quotes, with `\"`, `\\` and `\n` escaped.
[[nodiscard]] std::string quoted(const std::string& s) {
  std::string text = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') text += "\\n";
    else text += c;
  }
  return text + '"';
}

struct AttributeText {
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return real_text(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return is_plain_symbol(v) ? v : quoted(v); }
  std::string operator()(const std::vector<std::int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
  std::string operator()(const std::vector<double>& v) const {
    if (v.empty()) return "real []";
    std::vector<std::string> items;
    for (const double x : v) items.push_back(real_text(x));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::string operator()(const ValueName& v) const { return "$" + v.name; }
};

[[nodiscard]] std::string source_text(const Source& source) {
  std::string text;
  if (!source.file.empty() || source.line != 0) text += fmt::format(" @ {}:{}", quoted(source.file), source.line);
  if (!source.section.empty()) text += " section " + quoted(source.section);
  return text;
}

[[nodiscard]] std::string role_text(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::parameter: return "parameter";
    case Role::constant: return "constant";
    case Role::index: return "index";
  }
  return "input";
}

[[nodiscard]] std::string type_text(const Input& input) {
  std::vector<std::string> extents;
  for (std::size_t axis = 0; axis < input.dims.rank; ++axis) {
    const bool open = axis < input.open.size() && !input.open[axis].empty();
    extents.push_back(open ? "?" + input.open[axis] : std::to_string(input.dims[axis]));
  }
  return fmt::format("{}[{}]", name_of(input.dtype), fmt::join(extents, ", "));
}

[[nodiscard]] std::string input_text(const Input& input) {
  std::string text = fmt::format("{} {} : {}", role_text(input.role), input.name, type_text(input));
  if (input.range) text += fmt::format(" in {}..{}", input.range->first, input.range->second);
  if (input.value) text += " = " + elements_text(*input.value);
  return text + source_text(input.source);
}

[[nodiscard]] std::string names_text(const std::vector<std::optional<std::string>>& names) {
  std::vector<std::string> items;
  for (const auto& name : names) items.push_back(name.value_or("_"));
  return fmt::format("{}", fmt::join(items, ", "));
}

[[nodiscard]] std::string step_text(const Call& call) {
  std::string text = fmt::format("{} = {}({})", fmt::join(call.results, ", "), call.operation, names_text(call.operands));
  if (!call.packs.empty()) text += fmt::format(" packs [{}]", fmt::join(call.packs, ", "));
  if (!call.attributes.empty()) {
    std::vector<std::string> items;
    for (const auto& [name, value] : call.attributes) items.push_back(name + " = " + std::visit(AttributeText{}, value));
    text += fmt::format(" {{{}}}", fmt::join(items, ", "));
  }
  return text + source_text(call.source);
}

[[nodiscard]] std::string step_text(const Differentiate& step) {
  std::string text = fmt::format("{} = {}({}; {}", fmt::join(step.results, ", "),
                                 step.mode == Differentiate::Mode::vjp ? "vjp" : "jvp", fmt::join(step.of, ", "),
                                 fmt::join(step.wrt, ", "));
  if (!step.seeds.empty()) text += "; " + names_text(step.seeds);
  return text + ")" + source_text(step.source);
}

[[nodiscard]] std::string step_text(const Assign& step) { return summary(step) + source_text(step.source); }

}  // namespace

std::string to_text(const Program& program) {
  std::string text;
  if (!program.definitions.empty()) {
    text += "definitions\n";
    for (const std::string& definition : program.definitions) text += definition + (definition.ends_with('\n') ? "" : "\n");
    text += "end definitions\n";
  }
  for (const Input& input : program.inputs) text += input_text(input) + "\n";
  for (const Buffer& b : program.buffers)
    text += fmt::format("buffer {} : {}{}\n", b.name, to_string(ValueType{b.dtype, b.dims}), source_text(b.source));
  for (const auto& step : program.steps) text += std::visit([](const auto& s) { return step_text(s); }, step) + "\n";
  if (!program.outputs.empty()) text += fmt::format("output {}\n", fmt::join(program.outputs, ", "));
  for (const Update& update : program.updates) text += fmt::format("update {} := {}\n", update.parameter, update.value);
  for (const Wish& wish : program.wishes) text += fmt::format("{} {}{}\n", word_of(wish.asked), wish.value, source_text(wish.source));
  return text;
}

}  // namespace etalon::spec
