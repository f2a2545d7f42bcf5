#include <algorithm>
#include <utility>

#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

/// Whether the last two axes could be exchanged, and would tell.
bool is_square(const spec::ValueType& type) {
  const std::size_t rank = type.dims.rank;
  return rank >= 2 && type.dims[rank - 1] > 1 && type.dims[rank - 1] == type.dims[rank - 2];
}

/// One that gives a square, where that is found.
std::optional<DrawnCall> drawn_to_join(Composition& c) {
  constexpr int draws = 8;
  std::optional<DrawnCall> base;
  for (int k = 0; k < draws && !(base && is_square(base->result())); ++k) {
    auto found = drawn_alone(c, std::max<std::int64_t>(c.wish.elements, 24), k % 2 == 0);
    if (found && found->result().dims.rank > 0 && (!base || is_square(found->result()))) base = std::move(found);
  }
  return base;
}

/// An elementwise call of two operands that gives this type, one of which has one element along an axis.
std::optional<DrawnCall> broadcast_over(Composition& c, const spec::ValueType& type) {
  constexpr int draws = 16;
  for (int k = 0; k < draws && !c.catalogue.elementwise.empty(); ++k) {
    const spec::Definition& d = *c.draw.pick(c.catalogue.elementwise);
    if (d.operand_count != 2) continue;
    auto found = drawn_on(c, d, type, true);
    if (!found || std::count(found->types.operands.begin(), found->types.operands.end(), std::optional(type)) != 2) continue;
    const auto narrow = static_cast<std::size_t>(c.draw.chance(0.7) ? 1 : 0);
    auto& extents = found->assignment.rows[row_key(d.at(d.operands[narrow].axes))];
    if (extents.size() != type.dims.rank) continue;
    const auto axes = static_cast<std::int64_t>(extents.size());
    extents[static_cast<std::size_t>(c.draw.integer(std::max<std::int64_t>(0, axes - 2), axes - 1))] = 1;
    found = typed(c.wish, d, std::move(found->assignment));
    if (found && found->result() == type) return found;
  }
  return std::nullopt;
}

}  // namespace

// Who joins the two may read a column as a row, which nothing but a square tells apart.
void add_epilogue(Composition& c) {
  const auto base = drawn_to_join(c);
  const auto last = base ? broadcast_over(c, base->result()) : std::nullopt;
  const auto value = last ? c.draft.add_hidden(*base) : std::nullopt;
  if (value) c.draft.add_hidden(*last, taken_where(*last, base->result(), {*value}));
}

}  // namespace etalon::conformance
