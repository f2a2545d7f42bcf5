#include "compiled/machine/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "spec/error.hpp"
#include "spec/notation/parse.hpp"

namespace etalon::compiled {

namespace {

using spec::Definition;
using spec::Expr;
using spec::NodeForm;
using spec::NodeId;

/// A node of an equation's right side, before its arguments: a primitive, or an operand at the lane.
struct Term {
  std::optional<spec::Primitive> primitive;
  std::size_t operand = 0;
};

/// The right side of an instruction's one equation, where that is arithmetic in each lane.
struct Pattern {
  std::vector<Term> terms;            ///< empty where it is something else
  std::size_t operands = 0;
  std::size_t operations = 0;
  std::optional<DType> converts_to;   ///< of a copy: the type that its attribute names
};

/// \returns whether the node is arithmetic on operands at the index `lane`
bool append(Pattern& pattern, const Definition& d, NodeId node, std::string_view lane) {
  if (d[node].form == NodeForm::read) {
    const std::string_view text = d.at(node);
    const NodeId index = d.child(node, 0);
    if (d.children(node) != 1 || d[index].form != NodeForm::name || d.at(index) != lane) return false;
    const int operand = d.operand_named(text.substr(0, text.find('[')));
    pattern.terms.push_back({std::nullopt, static_cast<std::size_t>(operand)});
    return operand >= 0;
  }
  if (d[node].form != NodeForm::apply) return false;
  pattern.terms.push_back({static_cast<spec::Primitive>(d[node].op), 0});
  ++pattern.operations;
  for (NodeId child = d[node].first; child >= 0; child = d[child].next) {
    if (!append(pattern, d, child, lane)) return false;
  }
  return true;
}

Pattern pattern_of(const Instruction& i) {
  const Definition d = spec::parse(i.meaning);
  if (!d.ok()) throw InternalError("instructions: " + std::string(d.diagnosis.message()));
  const spec::ClauseText& equation = d.clauses[0];
  const bool in_registers = i.llvm.find("ptr %") == std::string_view::npos;
  Pattern pattern;
  pattern.operands = d.operand_count;
  if (d.attribute_count == 1) pattern.converts_to = dtype_named(d.at(d.attributes[0].value));
  const bool plain = d.clause_count == 1 && in_registers && is_of_any_lanes(i) && i.feature.empty() && equation.places >= 0;
  if (!plain || !append(pattern, d, equation.value, d.at(equation.places))) pattern.terms.clear();
  return pattern;
}

/// In the order of the table.
const std::array<Pattern, instructions.size()>& patterns() {
  static const std::array<Pattern, instructions.size()> all = [] {
    std::array<Pattern, instructions.size()> made;
    std::transform(instructions.begin(), instructions.end(), made.begin(), pattern_of);
    return made;
  }();
  return all;
}

/// Whether `e` has the form of the terms from number `next` on, which moves behind them. An operand that stands twice is one expression.
bool matches(const Pattern& pattern, std::size_t& next, const Expr& e, std::vector<Expr>& operands) {
  const Term& term = pattern.terms[next++];
  if (!term.primitive) {
    Expr& operand = operands[term.operand];
    if (operand.valid()) return operand == e;
    operand = e;
    return true;
  }
  if (!e.is(*term.primitive) || e.kind() != Kind::real) return false;
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return matches(pattern, next, a, operands); });
}

}  // namespace

std::optional<Selected> select(const Expr& e, Rounding rounding, const Machine& machine) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Pattern& pattern = patterns()[i];
    const bool computes = rounding == Rounding::each ? pattern.operations == 1 : pattern.operations > 0;
    if (!computes || pattern.terms.empty() || !is_had_by(instructions[i], machine)) continue;
    std::vector<Expr> operands(pattern.operands);
    std::size_t next = 0;
    if (!matches(pattern, next, e, operands)) continue;
    // An operand that is computed is rounded before.
    const bool rounds_before = std::any_of(operands.begin(), operands.end(), [](const Expr& o) { return o.form() == spec::Form::apply; });
    if (rounding == Rounding::each || !rounds_before) return Selected{&instructions[i], std::move(operands)};
  }
  return std::nullopt;
}

const Instruction& conversion(DType from, DType to) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Pattern& pattern = patterns()[i];
    if (pattern.terms.size() == 1 && pattern.converts_to == to && instructions[i].types.front() == from) return instructions[i];
  }
  throw InternalError(fmt::format("instructions: none converts {} to {}", name_of(from), name_of(to)));
}

}  // namespace etalon::compiled
