// What compilers compute with the call before or behind it.
#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/roles/parts.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

/// Whether the last two axes could be exchanged, and would tell.
bool is_square(const spec::ValueType& type) {
  const std::size_t rank = type.dims.rank;
  return rank >= 2 && type.dims[rank - 1] > 1 && type.dims[rank - 1] == type.dims[rank - 2];
}

/// A call of the program's definition, whose result is square where such a one is found.
std::optional<DrawnCall> drawn_square(Composition& c) {
  constexpr int draws = 8;
  std::optional<DrawnCall> base;
  for (int k = 0; k < draws && !(base && is_square(base->result())); ++k) {
    auto found = c.calls.alone(std::max<std::int64_t>(c.wish.elements, 24), k % 2 == 0);
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
    auto found = c.calls.on(d, type, true);
    if (!found || std::count(found->types.operands.begin(), found->types.operands.end(), std::optional(type)) != 2) continue;
    const auto narrow = static_cast<std::size_t>(c.draw.chance(0.7) ? 1 : 0);
    auto& extents = found->assignment.rows[row_key(d.at(d.operands[narrow].axes))];
    if (extents.size() != type.dims.rank) continue;
    const auto axes = static_cast<std::int64_t>(extents.size());
    extents[static_cast<std::size_t>(c.draw.integer(std::max<std::int64_t>(0, axes - 2), axes - 1))] = 1;
    found = c.calls.typed(d, std::move(found->assignment));
    if (found && found->result() == type) return found;
  }
  return std::nullopt;
}

/// Numbers around a tensor of these extents, on its last axes alone.
std::optional<DrawnCall> around(Composition& c, const Fit& read, std::size_t windows) {
  spec::ValueType type{c.wish.dtype, {}};
  for (const std::int64_t extent : read.extents) type.dims.push_back(extent);
  auto found = c.calls.on(*c.draw.pick(c.catalogue.surrounding), type);
  if (!found) return std::nullopt;
  found->assignment.attributes = found->instance.attributes;  // those that were left out too
  for (auto& [name, value] : found->assignment.attributes) {
    auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) (*list)[k] = k < list->size() - windows ? 0 : c.draw.integer(0, 2);
    if (auto* number = std::get_if<double>(&value); number != nullptr && *number == 0) *number = c.draw.pick(std::vector{1.5, -2.0, 0.25});
  }
  return c.calls.typed(*found->definition, std::move(found->assignment));
}

}  // namespace

// Who joins the two may read a column as a row, which nothing but a square tells apart.
void add_epilogue(Composition& c) {
  const auto base = drawn_square(c);
  const auto last = base ? broadcast_over(c, base->result()) : std::nullopt;
  const auto value = last ? c.draft.add_hidden(*base) : std::nullopt;
  if (value) c.draft.add_hidden(*last, taken_where(*last, base->result(), {*value}));
}

// Compilers make numbers around an operand the zeros that its windows read beyond the ends.
void add_surrounded(Composition& c) {
  const auto windows = static_cast<std::size_t>(std::max<int>(c.wish.about->family_rank, 0));
  constexpr int draws = 8;
  for (int k = 0; k < draws && windows > 0 && !c.catalogue.surrounding.empty(); ++k) {
    const auto read = c.calls.what_is_read();
    const auto numbers = read && read->extents.size() >= windows ? around(c, *read, windows) : std::nullopt;
    const auto over = numbers ? c.calls.on(*c.wish.about, numbers->result()) : std::nullopt;
    if (!over) continue;
    if (const auto value = c.draft.add_hidden(*numbers)) c.draft.add_hidden(*over, {value});
    return;
  }
}

}  // namespace etalon::conformance
