// Values that are read for the last time, or not yet, where their memory may be given to others.
#include <utility>

#include "conformance/roles/parts.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

/// What is neither elementwise nor a move gives it: compilers compute it before who reads it.
std::optional<std::string> value_kept(Composition& c, const spec::ValueType& type) {
  constexpr int draws = 20;
  for (int k = 0; k < draws; ++k) {
    const spec::Definition& d = *c.draw.pick(c.catalogue.all);
    if (is_elementwise(d) || is_move(d)) continue;
    const auto found = c.calls.on(d, type);
    if (found && found->result() == type) return c.draft.add_hidden(*found);
  }
  return std::nullopt;
}

/// A call of the program's definition that may read one value twice.
std::optional<DrawnCall> drawn_with_twins(Composition& c) {
  constexpr int draws = 8;
  for (int k = 0; k < draws; ++k) {
    auto found = c.calls.on(*c.wish.about, {c.wish.dtype, k % 2 == 0 ? Dims{4, 4} : Dims{5}});
    if (found && twins_of(*found)) return found;
  }
  return std::nullopt;
}

}  // namespace

// Where two read one buffer in different orders, or one alone does, its memory is not that of the result.
void add_over_itself(Composition& c) {
  // More than one tile, of 16 or of 64; where axes agree, what stands in another order has the same type.
  static const std::vector<Dims> beyond_tiles{{5, 5}, {9, 9}, {4, 3, 6}, {3, 3, 3}};
  const spec::ValueType type{c.wish.dtype, c.draw.pick(beyond_tiles)};
  const auto first = c.draw.chance(0.5) ? c.calls.elementwise_of(type, 1) : std::nullopt;
  const auto value = first ? c.draft.add_hidden(*first) : value_kept(c, type);
  if (!value) return;
  auto move = is_move(*c.wish.about) ? c.calls.on(*c.wish.about, type) : std::nullopt;
  if (!move || move->result() != type) move = c.calls.move_that_keeps(type);
  const auto moved = move ? c.draft.add_hidden(*move, {value}) : std::nullopt;
  if (!moved) return;
  const bool joins = c.draw.chance(0.5);
  const auto last = c.calls.elementwise_of(type, joins ? 2 : 1);
  if (!last) return;
  std::vector<std::string> both{*value, *moved};
  if (c.draw.chance(0.5)) std::swap(both[0], both[1]);
  c.draft.add_hidden(*last, taken_where(*last, type, joins ? both : std::vector{*moved}));
}

// Who counts readers may count calls, and give the memory out while a reader is still to come.
void add_read_twice(Composition& c) {
  const auto twice = drawn_with_twins(c);
  if (!twice) return;
  const std::size_t place = *twins_of(*twice);
  const spec::ValueType type = *twice->types.operands[place];
  const auto first = c.calls.elementwise_of(type, 1);
  const auto value = first ? c.draft.add_hidden(*first) : std::nullopt;
  if (!value) return;
  Taken taken(twice->types.operands.size());
  taken[place] = taken[place + 1] = value;
  if (!c.draft.add_hidden(*twice, std::move(taken))) return;
  // By the call itself on other numbers, where that gives the type and is not joined with elementwise ones.
  const bool itself = twice->result() == type && !is_elementwise(*twice->definition);
  const auto other = itself ? c.draft.add_hidden(*twice) : value_kept(c, type);
  const auto last = other ? c.calls.elementwise_of(type, 2) : std::nullopt;
  if (last) c.draft.add_hidden(*last, taken_where(*last, type, {*value, *other}));
}

}  // namespace etalon::conformance
