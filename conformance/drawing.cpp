#include "conformance/drawing.hpp"

#include <algorithm>

#include "conformance/one_drawing.hpp"

namespace etalon::conformance {

using spec::NodeForm;
using spec::NodeId;
using spec::Primitive;

Assignment Drawing::run() {
  packs();
  apart_ = draw_.chance(0.6);
  signed_ = wish_.turn ? wants_backwards(wish_) && wish_.insistence >= 1 : draw_.chance(0.25);
  ranks();
  limit_ = axis_limit();
  rows_and_extents();
  if (wish_.longest > 0) lengthen();
  joins();
  for (std::size_t i = 0; i < d_.attribute_count; ++i) attribute(d_.attributes[i]);
  if (d_.operand_count == 0 && draw_.chance(0.5)) shift();
  exact_types();
  places();
  if (wish_.fit) fit();
  for (std::size_t i = 0; i < d_.attribute_count; ++i) list_attribute(d_.attributes[i]);
  for (std::size_t i = 0; i < d_.clause_count; ++i) {
    if (d_.clauses[i].form == spec::ClauseText::Form::require) satisfy(d_.clauses[i].value);
  }
  optional_operands();
  return a_;
}

void Drawing::packs() {
  const std::size_t count = static_cast<std::size_t>(draw_.integer(1, 4));
  for (const std::string& name : names_.operand_packs) a_.packs[name] = count;
  for (std::size_t i = 0; i < d_.attribute_count; ++i) {
    if (d_.attributes[i].pack) members_ = static_cast<std::size_t>(draw_.integer(1, 3));
  }
  if (!names_.operand_packs.empty()) members_ = count;
}

// Constraints that chance rarely meets: an equation for a free extent, a divisibility.
void Drawing::satisfy(NodeId condition) {
  if (condition < 0 || d_[condition].form != NodeForm::apply) return;
  const auto op = static_cast<Primitive>(d_[condition].op);
  const NodeId left = d_[condition].first;
  const NodeId right = left >= 0 ? d_[left].next : -1;
  if (op == Primitive::logical_and) {
    satisfy(left);
    satisfy(right);
  }
  if (op != Primitive::eq || right < 0) return;
  if (divisible(left, right)) return;
  if (!assign(left, right)) (void)assign(right, left);
}

bool Drawing::assign(NodeId to, NodeId from) {
  if (d_[to].form != NodeForm::name) return false;
  const auto found = a_.extents.find(std::string(d_.at(to)));
  const auto value = integer_value(d_, from, a_);
  if (found == a_.extents.end() || !value) return false;
  found->second = *value;
  return true;
}

// `n % g == 0`
bool Drawing::divisible(NodeId left, NodeId right) {
  if (d_[left].form != NodeForm::apply || static_cast<Primitive>(d_[left].op) != Primitive::modulo) return false;
  if (integer_value(d_, right, a_) != 0) return false;
  const NodeId dividend = d_[left].first;
  const auto divisor = integer_value(d_, d_[dividend].next, a_);
  if (!divisor || *divisor <= 0 || d_[dividend].form != NodeForm::name) return true;
  const auto found = a_.extents.find(std::string(d_.at(dividend)));
  if (found != a_.extents.end())
    found->second = std::max<std::int64_t>(1, (found->second + *divisor - 1) / *divisor) * *divisor;
  return true;
}

void Drawing::optional_operands() {
  for (std::size_t i = 0; i < d_.operand_count; ++i) {
    const bool fits = wish_.fit && wish_.fit->operand == i;
    if (d_.operands[i].optional && !fits && draw_.chance(0.4)) a_.absent.insert(std::string(d_.at(d_.operands[i].name)));
  }
}

Assignment draw_once(const spec::Definition& definition, const Names& names, const TurnLevels& levels, Draw& draw, const SizeWish& wish) {
  return Drawing(definition, names, levels, draw, wish).run();
}

}  // namespace etalon::conformance
