#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

/// Numbers around a tensor of these extents, on its last axes alone.
std::optional<DrawnCall> around(Composition& c, const Fit& read, std::size_t windows) {
  spec::ValueType type{c.wish.dtype, {}};
  for (const std::int64_t extent : read.extents) type.dims.push_back(extent);
  auto found = drawn_on(c, *c.draw.pick(c.catalogue.surrounding), type);
  if (!found) return std::nullopt;
  found->assignment.attributes = found->instance.attributes;  // those that were left out too
  for (auto& [name, value] : found->assignment.attributes) {
    auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) (*list)[k] = k < list->size() - windows ? 0 : c.draw.integer(0, 2);
    if (auto* number = std::get_if<double>(&value); number != nullptr && *number == 0) *number = c.draw.pick(std::vector{1.5, -2.0, 0.25});
  }
  return typed(c.wish, *found->definition, std::move(found->assignment));
}

}  // namespace

// Compilers make numbers around an operand the zeros that its windows read beyond the ends.
void add_surrounded(Composition& c) {
  const auto windows = static_cast<std::size_t>(std::max<int>(c.wish.about->family_rank, 0));
  constexpr int draws = 8;
  for (int k = 0; k < draws && windows > 0 && !c.catalogue.surrounding.empty(); ++k) {
    const auto read = what_is_read(c);
    const auto numbers = read && read->extents.size() >= windows ? around(c, *read, windows) : std::nullopt;
    const auto over = numbers ? drawn_on(c, *c.wish.about, numbers->result()) : std::nullopt;
    if (!over) continue;
    if (const auto value = c.draft.add_hidden(*numbers)) c.draft.add_hidden(*over, {value});
    return;
  }
}

}  // namespace etalon::conformance
