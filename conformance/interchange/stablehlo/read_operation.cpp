#include "conformance/interchange/stablehlo/read_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {
namespace {

/// Operations whose pretty forms have a grammar of their own, with regions, and that are refused in any case.
[[nodiscard]] bool is_passed_over(std::string_view name) {
  constexpr std::array dialects{"stablehlo.", "chlo.", "check.", "func.", "call", "return"};
  if (std::none_of(dialects.begin(), dialects.end(), [&](std::string_view d) { return name.starts_with(d); }))
    return true;
  constexpr std::array names{"stablehlo.while",       "stablehlo.case", "stablehlo.if",
                             "stablehlo.custom_call", "stablehlo.scan", "chlo.scan"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Function OperationReader::function() {
  Function made;
  made.at = scan_.here();
  scan_.expect("func.func");
  if (!scan_.takes("public")) (void)scan_.takes("private");
  made.name = scan_.symbol();
  scan_.expect("(");
  made.body.arguments = arguments();
  if (scan_.takes("->")) (void)read_.types();
  if (scan_.takes("attributes")) (void)read_.dictionary();
  if (scan_.takes("{")) read_operations(made.body);
  pass_over_location();
  return made;
}

/// Up to the closing parenthesis. Of a declaration only the types stand.
std::vector<std::pair<std::string, Type>> OperationReader::arguments() {
  std::vector<std::pair<std::string, Type>> all;
  bool is_first = true;
  while (!scan_.takes(")")) {
    if (!is_first) scan_.expect(",");
    is_first = false;
    std::string name = scan_.value_name();
    if (!name.empty()) scan_.expect(":");
    Type type = read_.type();
    if (scan_.sees("{")) (void)read_.dictionary();
    pass_over_location();
    all.emplace_back(std::move(name), std::move(type));
  }
  return all;
}

/// Up to the closing brace.
void OperationReader::read_operations(Block& block) {
  if (++depth_ > deepest) scan_.fail(fmt::format("nothing that stands more than {} deep", deepest));
  if (scan_.takes("^")) {
    (void)scan_.word();
    if (scan_.takes("(")) block.arguments = arguments();
    scan_.expect(":");
  }
  while (!scan_.takes("}")) {
    if (scan_.sees("^")) scan_.fail("one block");
    block.operations.push_back(operation());
  }
  --depth_;
}

void OperationReader::pass_over_location() {
  if (scan_.takes("loc") && scan_.sees("(")) scan_.pass_over_brackets();
}

Operation OperationReader::operation() {
  Operation op;
  op.at = scan_.here();
  for (std::string name = scan_.value_name(); !name.empty(); name = scan_.takes(",") ? scan_.value_name() : "") {
    if (!scan_.takes(":")) {
      op.results.push_back(std::move(name));
      continue;
    }
    const std::int64_t several = scan_.natural("a number of results");
    if (several > 1024) scan_.fail("at most 1024 results");
    for (std::int64_t i = 0; i < several; ++i) op.results.push_back(fmt::format("{}#{}", name, i));
  }
  if (!op.results.empty()) scan_.expect("=");
  op.at = scan_.here();
  if (scan_.sees("\"")) {
    op.name = scan_.quoted();
    generic(op);
  } else {
    op.name = std::string(scan_.word());
    if (op.name.empty()) scan_.fail("an instruction");
    if (op.name == "call" || op.name == "return") op.name.insert(0, "func.");
    pretty(op);
  }
  pass_over_location();
  return op;
}

/// `"name"(%a, %b) <{…}> ({…}, {…}) {…} : (…) -> …`
void OperationReader::generic(Operation& op) {
  scan_.expect("(");
  while (!scan_.takes(")")) {
    if (!op.operands.empty()) scan_.expect(",");
    op.operands.push_back(scan_.value_name());
    if (op.operands.back().empty()) scan_.fail("a value");
  }
  if (scan_.takes("<")) {
    op.attributes = read_.dictionary();
    scan_.expect(">");
  }
  if (scan_.takes("(")) {
    while (!scan_.takes(")")) {
      if (!op.regions.empty()) scan_.expect(",");
      scan_.expect("{");
      read_operations(op.regions.emplace_back());
    }
  }
  if (scan_.sees("{")) op.attributes.merge(read_.dictionary());
  scan_.expect(":");
  signature(op);
}

void OperationReader::pretty(Operation& op) {
  if (op.name == "stablehlo.reduce" && scan_.sees("(")) return reduction(op);
  if (is_passed_over(op.name) && !(op.name == "stablehlo.custom_call" && scan_.sees("@"))) return pass_over(op);
  items(op);
}

/// Operands, words and named attributes in the order in which they come, attributes in braces, types.
void OperationReader::items(Operation& op) {
  std::optional<Literal> literal;
  if (!scan_.sees(":") && !scan_.sees("{")) {
    do {
      if (scan_.sees("dense"))
        literal = read_.literal();
      else if (!item(op))
        break;
    } while (scan_.takes(",") || scan_.sees("dense"));
  }
  if (scan_.sees("{")) op.attributes.merge(read_.dictionary());
  if (scan_.sees("dense")) literal = read_.literal();
  if (!scan_.takes(":")) return;
  signature(op);
  if (!literal) return;
  if (op.types.empty()) scan_.fail("the type of dense<…>");
  op.attributes["value"] = {read_.numbers(*literal, op.types.front())};
}

/// One of them; false where none comes next.
bool OperationReader::item(Operation& op) {
  if (std::string name = scan_.value_name(); !name.empty()) {
    op.operands.push_back(std::move(name));
    if (scan_.sees("[")) ranges(op);
    while (scan_.word_begins()) {  // `%a, %b dim_numbers = …`
      const std::string word(scan_.word());
      if (!scan_.sees("=")) scan_.fail("'='");
      named_item(op, word);
    }
    return true;
  }
  if (scan_.sees("\"")) {
    op.attributes["name"] = {scan_.quoted()};
    return item(op);
  }
  if (scan_.sees("@")) {
    op.attributes["callee"] = {scan_.symbol()};
    if (!scan_.sees("(")) return true;
  }
  if (scan_.takes("(")) {
    while (!scan_.takes(")")) {
      if (!op.operands.empty()) scan_.expect(",");
      if (!item(op)) scan_.fail("a value");
    }
    if (scan_.word_begins()) return item(op);
    return true;
  }
  const std::string word(scan_.word());
  if (word.empty()) return false;
  if (scan_.sees("="))
    named_item(op, word);
  else
    op.words.push_back(word);
  return true;
}

/// `dims = [0, 1]`, `batching_dims = [0] x [0]`, `dim_numbers = […]x[…]->[…]`, `window = {stride = […], …}`
void OperationReader::named_item(Operation& op, const std::string& name) {
  scan_.expect("=");
  if (name == "dim_numbers") {
    op.attributes[name] = {read_.dimension_numbers()};
    return;
  }
  op.attributes[name] = read_.attribute(false);
  if (scan_.takes("x")) op.attributes[name + ".right"] = read_.attribute(false);
}

/// `[0:2, 1:8:3]`
void OperationReader::ranges(Operation& op) {
  scan_.expect("[");
  AttributeList start, limit, step;
  while (!scan_.takes("]")) {
    if (!start.empty()) scan_.expect(",");
    start.push_back({scan_.natural("where a slice starts")});
    scan_.expect(":");
    limit.push_back({scan_.natural("where a slice ends")});
    step.push_back({scan_.takes(":") ? scan_.natural("a step") : std::int64_t{1}});
  }
  op.attributes["start_indices"] = {std::move(start)};
  op.attributes["limit_indices"] = {std::move(limit)};
  op.attributes["strides"] = {std::move(step)};
}

/// `(%a init: %b), (%c init: %d) applies stablehlo.add across dimensions = [1] {…} : (…) -> …`, or with `reducer`
/// behind it.
void OperationReader::reduction(Operation& op) {
  std::vector<std::string> initial;
  do {
    scan_.expect("(");
    op.operands.push_back(scan_.value_name());
    scan_.expect("init");
    scan_.expect(":");
    initial.push_back(scan_.value_name());
    scan_.expect(")");
    if (op.operands.back().empty() || initial.back().empty())
      scan_.fail("a value that is reduced, and one to begin with");
  } while (scan_.takes(","));
  const std::size_t inputs = op.operands.size();
  op.operands.insert(op.operands.end(), initial.begin(), initial.end());
  std::string applied;
  if (scan_.takes("applies")) applied = std::string(scan_.word());
  scan_.expect("across");
  scan_.expect("dimensions");
  scan_.expect("=");
  op.attributes["dimensions"] = read_.attribute(false);
  if (scan_.sees("{")) op.attributes.merge(read_.dictionary());
  scan_.expect(":");
  signature(op);
  if (applied.empty()) return reducer(op, inputs);
  Block& body = op.regions.emplace_back();
  Type type = op.types.empty() ? Type(std::string("a reduction without results")) : op.types.front();
  if (auto* tensor = std::get_if<TensorType>(&type)) tensor->extents.clear();
  body.arguments = {{"%a", type}, {"%b", type}};
  Operation inner;
  inner.at = op.at, inner.name = applied, inner.operands = {"%a", "%b"}, inner.results = {"%r"}, inner.types = {type};
  Operation end;
  end.at = op.at, end.name = "stablehlo.return", end.operands = {"%r"};
  body.operations = {std::move(inner), std::move(end)};
}

/// `reducer(%a: …, %b: …) (%c: …, %d: …) {…}`: a pair for each input. Blocks have the first of all pairs, then the
/// second.
void OperationReader::reducer(Operation& op, std::size_t inputs) {
  scan_.expect("reducer");
  Block body;
  std::vector<std::pair<std::string, Type>> second;
  for (std::size_t i = 0; i < inputs; ++i) {
    scan_.expect("(");
    auto pair = arguments();
    if (pair.size() != 2) scan_.fail("two arguments for each value that is reduced");
    body.arguments.push_back(std::move(pair[0]));
    second.push_back(std::move(pair[1]));
  }
  body.arguments.insert(body.arguments.end(), second.begin(), second.end());
  scan_.expect("{");
  read_operations(body);
  op.regions.push_back(std::move(body));
}

/// `(…) -> …`, or types of which the last is the result's, or `… -> …`.
void OperationReader::signature(Operation& op) {
  const bool has_parentheses = scan_.sees("(");
  std::vector<Type> all = read_.types();
  while (!has_parentheses && scan_.takes(",")) all.push_back(read_.type());
  if (scan_.takes("->"))
    op.types = read_.types();
  else if (!all.empty())
    op.types = {all.back()};
}

/// Of a form that is not known: brackets, and what else stands on the line of the last of them.
void OperationReader::pass_over(Operation& op) {
  std::uint32_t line = op.at.line;
  while (!scan_.at_end() && !scan_.sees("}")) {
    if (scan_.takes("cond") || scan_.takes("do")) line = scan_.line_before();
    if (scan_.here().line != line && !scan_.sees("{") && !scan_.sees(",")) return;
    if (scan_.sees("(") || scan_.sees("[") || scan_.sees("{") || scan_.sees("<")) {
      scan_.pass_over_brackets();
      line = scan_.line_before();
    } else if (scan_.sees("\"")) {
      (void)scan_.quoted();
    } else if (!scan_.takes("->")) {
      (void)scan_.any();
    }
  }
}

}  // namespace etalon::conformance::stablehlo
