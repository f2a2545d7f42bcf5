#include <algorithm>
#include <array>
#include <utility>

#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

/// The attribute that names an element type.
std::optional<std::string> type_attribute(const spec::Definition& d) {
  const auto *end = d.attributes + d.attribute_count;
  const auto *found = std::find_if(d.attributes, end, [](const auto& a) { return a.kind == spec::AttributeKind::dtype; });
  return found == end ? std::nullopt : std::optional(std::string(d.at(found->name)));
}

std::pair<DType, DType> way_in_turn(DType real, std::uint64_t turn) {
  const DType other = real == DType::f64 ? DType::f32 : DType::f64;
  const std::array<std::pair<DType, DType>, ways_there_and_back> ways{{{DType::i64, DType::i32}, {real, DType::i32}, {DType::i64, real}, {DType::i64, DType::i32}, {DType::i32, real}, {real, other}, {DType::i64, DType::i32}, {DType::i64, DType::boolean}}};
  return ways[static_cast<std::size_t>(turn % ways.size())];
}

}  // namespace

// Compilers leave both out, and what wraps or is cut off between; not all integers are large, hence several times.
void add_there_and_back(Composition& c) {
  const spec::Definition& d = *c.wish.about;
  const auto attribute = type_attribute(d);
  if (!attribute || d.operand_count == 0) return;
  const auto converting = [&](DType from, DType to) {
    auto call = drawn_on(c, d, {from, {3, 4}});
    if (!call) return call;
    call->assignment.attributes[*attribute] = std::string(name_of(to));
    return typed(c.wish, d, std::move(call->assignment));
  };
  const auto [from, to] = way_in_turn(c.wish.dtype, c.turn++);
  const auto there = converting(from, to), back = converting(to, from);
  const auto value = there && back ? c.draft.add_hidden(*there) : std::nullopt;
  if (value) c.draft.add_hidden(*back, {value});
}

}  // namespace etalon::conformance
