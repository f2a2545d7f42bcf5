#include <algorithm>
#include <array>
#include <variant>

#include "conformance/attribute_levels.hpp"
#include "conformance/composer.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

using Extents = std::vector<std::int64_t>;
using Taken = std::vector<std::optional<std::string>>;

// More than one tile, of 16 or of 64; where axes agree, what stands in another order has the same type.
const std::vector<Dims> beyond_tiles{{5, 5}, {9, 9}, {4, 3, 6}, {3, 3, 3}};

Extents extents_of(const spec::ValueType& type) { return {type.dims.begin(), type.dims.end()}; }

bool is_all_of(const CallTypes& types, const spec::ValueType& type, std::size_t count) {
  return static_cast<std::size_t>(std::count(types.operands.begin(), types.operands.end(), std::optional(type))) >= count;
}

/// The axes that attributes name, of an operand of this rank.
std::vector<std::size_t> axes_named(const spec::Definition& d, const spec::Attributes& attributes, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto add = [&](std::int64_t axis) {
    const auto all = static_cast<std::int64_t>(rank);
    if (axis >= -all && axis < all) axes.push_back(static_cast<std::size_t>(axis < 0 ? axis + all : axis));
  };
  for (const auto& [attribute, row] : names_of(d).placed) {
    const auto found = attributes.find(attribute);
    if (found == attributes.end()) continue;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) add(*one);
    if (const auto* list = std::get_if<Extents>(&found->second)) std::for_each(list->begin(), list->end(), add);
  }
  return axes;
}

bool meet(const std::vector<std::size_t>& one, const std::vector<std::size_t>& other) {
  return std::any_of(one.begin(), one.end(), [&](std::size_t axis) { return std::find(other.begin(), other.end(), axis) != other.end(); });
}

}  // namespace

std::optional<Composer::Drawn> Composer::drawn_on(const spec::Definition& d, const spec::ValueType& type, bool equal) {
  if (d.operand_count == 0 || !may_hold(d.operands[0].range, type.dtype, wish_.dtype)) return std::nullopt;
  SizeWish wish{.elements = std::max<std::int64_t>(wish_.elements, type.dims.count()), .edges = false, .defaults = false};
  wish.fit = Fit{0, extents_of(type)};
  auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
  if (!assignment) return std::nullopt;
  if (type.dtype != wish_.dtype) assignment->shared_type = type.dtype;
  if (equal) make_equal(d, *assignment, extents_of(type));
  auto found = typed(d, std::move(*assignment));
  return found && found->types.operands.front() == type ? std::move(found) : std::nullopt;
}

std::optional<Composer::Drawn> Composer::typed(const spec::Definition& d, Assignment assignment) const {
  auto types = call_of(d, assignment, wish_.dtype);
  if (!types) return std::nullopt;
  const spec::ValueType result = instance_of(*types, wish_.library).results.front();
  return Drawn{&d, std::move(assignment), std::move(*types), result};
}

std::optional<Composer::Drawn> Composer::move_that_keeps(const spec::ValueType& type, const std::vector<std::size_t>* apart) {
  // In turn, those behind many that never keep a type would be nearly all that are met.
  constexpr int draws = 3;
  for (std::size_t passed = 0; passed < 2 * moves_.size(); ++passed) {
    const spec::Definition& d = *draw_.pick(moves_);
    for (int k = 0; k < draws; ++k) {
      auto found = drawn_on(d, type);
      if (!found || found->result != type) continue;
      if (apart == nullptr || !meet(axes_named(d, instance_of(found->types, wish_.library).attributes, type.dims.rank), *apart)) return found;
    }
  }
  return std::nullopt;
}

std::optional<Composer::Drawn> Composer::elementwise_of(const spec::ValueType& type, std::size_t alike) {
  constexpr int draws = 12;
  for (int k = 0; k < draws && !elementwise_.empty(); ++k) {
    const bool own = k < 2 && is_elementwise(*wish_.about);
    auto found = drawn_on(own ? *wish_.about : *draw_.pick(elementwise_), type, true);
    if (found && found->result == type && is_all_of(found->types, type, alike)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> Composer::add_hidden(const Drawn& call, Taken taken) {
  taken.resize(call.types.operands.size());
  const std::size_t before = results_.size();
  add(call.types, std::move(taken), call.assignment);
  if (results_.size() == before) return std::nullopt;
  hidden_.insert(results_[before].first);
  return results_[before].first;
}

// Compilers take the moves out where they are each other's inverse, and forget that the axes must be others or the same.
void Composer::add_between_moves() {
  static const std::vector<Dims> extents{{4, 3, 5}, {3, 4}, {3, 3, 3}, {2, 3, 3, 4}};
  constexpr int draws = 6;
  for (int k = 0; k < draws; ++k) {
    const spec::ValueType type{wish_.dtype, draw_.pick(extents)};
    const auto inner = drawn_on(*wish_.about, type);
    if (!inner || inner->result != type) continue;
    const auto axes = axes_named(*wish_.about, instance_of(inner->types, wish_.library).attributes, type.dims.rank);
    const auto move = move_that_keeps(type, draw_.chance(0.7) ? &axes : nullptr);
    if (!move) continue;
    const auto before = add_hidden(*move, {});
    const auto made = before ? add_hidden(*inner, {before}) : std::nullopt;
    if (made) (void)add_hidden(*move, {made});
    if (before) return;
  }
}

// Where two read one buffer in different orders, or one alone does, its memory is not that of the result.
void Composer::add_over_itself() {
  const spec::ValueType type{wish_.dtype, draw_.pick(beyond_tiles)};
  const auto first = draw_.chance(0.5) ? elementwise_of(type, 1) : std::nullopt;
  const auto value = first ? add_hidden(*first, {}) : value_kept(type);
  if (!value) return;
  auto move = is_move(*wish_.about) ? drawn_on(*wish_.about, type) : std::nullopt;
  if (!move || move->result != type) move = move_that_keeps(type);
  const auto moved = move ? add_hidden(*move, {value}) : std::nullopt;
  if (!moved) return;
  const bool joins = draw_.chance(0.5);
  const auto last = elementwise_of(type, joins ? 2 : 1);
  if (!last) return;
  std::vector<std::string> of_both{*value, *moved};
  if (draw_.chance(0.5)) std::swap(of_both[0], of_both[1]);
  if (!joins) of_both = {*moved};
  Taken taken(last->types.operands.size());
  for (std::size_t i = 0, k = 0; i < taken.size() && k < of_both.size(); ++i) {
    if (last->types.operands[i] == type) taken[i] = of_both[k++];
  }
  (void)add_hidden(*last, std::move(taken));
}

// Who counts readers may count calls, and give the memory out while a reader is still to come.
void Composer::add_read_twice() {
  constexpr int draws = 8;
  std::optional<Drawn> twice;
  for (int k = 0; k < draws && !twice; ++k) {
    auto found = drawn_on(*wish_.about, {wish_.dtype, k % 2 == 0 ? Dims{4, 4} : Dims{5}});
    if (found && has_twins(found->types)) twice = std::move(found);
  }
  if (!twice) return;
  const auto& all = twice->types.operands;
  const auto twin = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; });
  const spec::ValueType type = **twin;
  const auto first = elementwise_of(type, 1);
  const auto value = first ? add_hidden(*first, {}) : std::nullopt;
  if (!value) return;
  Taken taken(all.size());
  const auto place = static_cast<std::size_t>(twin - all.begin());
  taken[place] = taken[place + 1] = value;
  if (!add_hidden(*twice, std::move(taken))) return;
  const auto other = value_of_its_size(*twice, type);
  const auto last = other ? elementwise_of(type, 2) : std::nullopt;
  if (!last) return;
  Taken both(last->types.operands.size());
  for (std::size_t i = 0, k = 0; i < both.size() && k < 2; ++i) {
    if (last->types.operands[i] == type) both[i] = k++ == 0 ? *value : *other;
  }
  (void)add_hidden(*last, std::move(both));
}

/// By the call itself on other numbers, where that gives the type, otherwise by one that is not joined with elementwise ones.
std::optional<std::string> Composer::value_of_its_size(const Drawn& call, const spec::ValueType& type) {
  if (call.result == type && !is_elementwise(*call.definition)) return add_hidden(call, {});
  return value_kept(type);
}

std::optional<std::string> Composer::value_kept(const spec::ValueType& type) {
  constexpr int draws = 20;
  for (int k = 0; k < draws; ++k) {
    const spec::Definition& d = *draw_.pick(all_);
    if (is_elementwise(d) || is_move(d)) continue;
    const auto found = drawn_on(d, type);
    if (found && found->result == type) return add_hidden(*found, {});
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
