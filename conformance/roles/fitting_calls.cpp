#include "conformance/roles/fitting_calls.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {

bool may_hold(spec::Range range, DType dtype, DType of_case) {
  switch (range) {
    case spec::Range::integer: return dtype == DType::i64;
    case spec::Range::boolean: return dtype == DType::boolean;
    case spec::Range::any: return true;
    case spec::Range::number: return dtype != DType::boolean;
    default: return dtype == of_case;
  }
}

void make_equal(Assignment& choices, const std::vector<std::int64_t>& extents) {
  for (auto& [row, of_row] : choices.rows) of_row = extents;
}

SizeWish size_wish(const Composition& c) { return {.elements = c.wish.elements, .edges = false, .defaults = c.wish.defaults}; }

std::optional<DrawnCall> drawn(Composition& c, const spec::Definition& d, const SizeWish& wish, std::optional<DType> shared) {
  auto choices = draw_assignment(d, c.draw, wish, c.wish.dtype);
  if (choices && shared && *shared != c.wish.dtype) choices->shared_type = shared;
  return typed(c.wish, d, std::move(choices));
}

std::optional<DrawnCall> drawn_on(Composition& c, const spec::Definition& d, const spec::ValueType& type, bool equal) {
  if (d.operand_count == 0 || !may_hold(d.operands[0].range, type.dtype, c.wish.dtype)) return std::nullopt;
  const std::int64_t elements = std::max<std::int64_t>(c.wish.elements, type.dims.count());
  const SizeWish wish{.elements = elements, .edges = false, .defaults = false, .fit = Fit{0, extents_of(type)}};
  auto choices = draw_assignment(d, c.draw, wish, c.wish.dtype);
  if (choices && type.dtype != c.wish.dtype) choices->shared_type = type.dtype;
  if (choices && equal) make_equal(*choices, extents_of(type));
  auto found = typed(c.wish, d, std::move(choices));
  return found && found->types.operands.front() == type ? std::move(found) : std::nullopt;
}

std::optional<DrawnCall> drawn_alone(Composition& c, std::int64_t elements, bool square) {
  const spec::Definition& d = *c.wish.about;
  auto choices = draw_assignment(d, c.draw, {.elements = elements, .edges = false, .defaults = false}, c.wish.dtype);
  if (choices && square) {
    const std::int64_t side = c.draw.integer(2, 4);
    for (auto& [name, extent] : choices->extents) extent = side;
  }
  return typed(c.wish, d, std::move(choices));
}

std::optional<Fit> what_is_read(Composition& c) {
  const auto read = drawn_alone(c, c.wish.elements, false);
  if (!read || read->types.operands.empty() || !read->types.operands.front()) return std::nullopt;
  return Fit{0, extents_of(*read->types.operands.front())};
}

std::optional<DrawnCall> elementwise_of(Composition& c, const spec::ValueType& type, std::size_t alike) {
  constexpr int draws = 12;
  for (int k = 0; k < draws && !c.catalogue.elementwise.empty(); ++k) {
    const bool own = k < 2 && is_elementwise(*c.wish.about);
    auto found = drawn_on(c, own ? *c.wish.about : *c.draw.pick(c.catalogue.elementwise), type, true);
    if (!found || found->result() != type) continue;
    const auto& read = found->types.operands;
    if (static_cast<std::size_t>(std::count(read.begin(), read.end(), std::optional(type))) >= alike) return found;
  }
  return std::nullopt;
}

std::optional<DrawnCall> move_that_keeps(Composition& c, const spec::ValueType& type, const std::vector<std::size_t>& apart) {
  // In turn, those behind many that never keep a type would be nearly all that are met.
  constexpr int draws = 3;
  for (std::size_t passed = 0; passed < 2 * c.catalogue.moves.size(); ++passed) {
    const spec::Definition& d = *c.draw.pick(c.catalogue.moves);
    for (int k = 0; k < draws; ++k) {
      auto found = drawn_on(c, d, type);
      if (!found || found->result() != type) continue;
      const std::vector<std::size_t> moved = axes_named(*found, type.dims.rank);
      if (std::find_first_of(moved.begin(), moved.end(), apart.begin(), apart.end()) == moved.end()) return found;
    }
  }
  return std::nullopt;
}

std::vector<std::size_t> axes_named(const DrawnCall& call, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto add = [&](std::int64_t axis) {
    const auto all = static_cast<std::int64_t>(rank);
    if (axis >= -all && axis < all) axes.push_back(static_cast<std::size_t>(axis < 0 ? axis + all : axis));
  };
  for (const auto& [attribute, row] : names_of(*call.definition).placed) {
    const auto found = call.instance.attributes.find(attribute);
    if (found == call.instance.attributes.end()) continue;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) add(*one);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) std::for_each(list->begin(), list->end(), add);
  }
  return axes;
}

}  // namespace etalon::conformance
