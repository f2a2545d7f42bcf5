// What one call does another undoes, or seems to: compilers leave both out.
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

bool takes_several(const spec::Definition& d) { return d.operand_count == 1 && d.operands[0].pack; }

bool gives_several(const spec::Definition& d) { return d.result_count > 1 || d.results[0].pack; }

/// Who takes apart and who joins: the program's definition is all there is of its kind. Nobody where it does neither.
std::pair<Definitions, Definitions> givers_and_takers(const Composition& c) {
  const spec::Definition* about = c.wish.about;
  const bool takes = takes_several(*about), gives = !takes && gives_several(*about);
  Definitions givers, takers;
  for (const spec::Definition* d : c.catalogue.moves) {
    if (takes && gives_several(*d)) givers.push_back(d);
    if (gives && takes_several(*d)) takers.push_back(d);
  }
  if (takes) takers = {about};
  if (gives) givers = {about};
  return {givers, takers};
}

/// A call of this definition that reads values of just these types, in any order.
std::optional<DrawnCall> joining(Composition& c, const spec::Definition& d, const std::vector<spec::ValueType>& pieces) {
  const std::vector<std::optional<spec::ValueType>> wanted(pieces.begin(), pieces.end());
  const bool told_apart = std::adjacent_find(pieces.begin(), pieces.end(), std::not_equal_to<>()) != pieces.end();
  const std::int64_t elements = std::max<std::int64_t>(c.wish.elements, 24);
  const SizeWish wish{.elements = elements, .edges = false, .defaults = false, .fit = Fit{0, extents_of(pieces.back())}};
  constexpr int draws = 40;
  for (int k = 0; k < draws; ++k) {
    auto found = c.calls.drawn(d, wish);
    if (!found) continue;
    const auto& read = found->types.operands;
    // In the order in which they were given, joining them changes nothing.
    if (told_apart && read == wanted) continue;
    if (std::is_permutation(read.begin(), read.end(), wanted.begin(), wanted.end())) return found;
  }
  return std::nullopt;
}

/// Per operand the piece of its type that comes last of those which are left.
Taken backwards(const DrawnCall& joined, std::span<const Result> pieces) {
  Taken taken(pieces.size());
  for (const Result& piece : pieces) {
    for (std::size_t place = pieces.size(); place-- > 0;) {
      if (taken[place] || joined.types.operands[place] != piece.type) continue;
      taken[place] = piece.name;
      break;
    }
  }
  return taken;
}

std::pair<DType, DType> way_in_turn(DType real, std::uint64_t turn) {
  using enum DType;
  const DType other = real == f64 ? f32 : f64;
  const std::array<std::pair<DType, DType>, ways_there_and_back> ways{
      {{i64, i32}, {real, i32}, {i64, real}, {i64, i32}, {i32, real}, {real, other}, {i64, i32}, {i64, boolean}}};
  return ways[static_cast<std::size_t>(turn % ways.size())];
}

}  // namespace

// Moves may be left out where they are each other's inverse; the axes must be others or the same, which compilers forget.
void add_between_moves(Composition& c) {
  static const std::vector<Dims> extents{{4, 3, 5}, {3, 4}, {3, 3, 3}, {2, 3, 3, 4}};
  constexpr int draws = 6;
  for (int k = 0; k < draws; ++k) {
    const spec::ValueType type{c.wish.dtype, c.draw.pick(extents)};
    const auto inner = c.calls.on(*c.wish.about, type);
    if (!inner || inner->result() != type) continue;
    const auto axes = c.draw.chance(0.7) ? axes_named(*inner, type.dims.rank) : std::vector<std::size_t>{};
    const auto move = c.calls.move_that_keeps(type, axes);
    const auto before = move ? c.draft.add_hidden(*move) : std::nullopt;
    const auto made = before ? c.draft.add_hidden(*inner, {before}) : std::nullopt;
    if (made) c.draft.add_hidden(*move, {made});
    if (before) return;
  }
}

// What was taken apart is given back; the order must be the same, which compilers forget.
void add_rejoined(Composition& c) {
  static const std::vector<Dims> extents{{4, 3}, {6}, {2, 4}, {2, 2}};
  const auto [givers, takers] = givers_and_takers(c);
  if (givers.empty() || takers.empty()) return;
  // Each giver in turn: some of them find who joins their pieces in any draw, others in few.
  constexpr std::size_t draws_of_each = 30;
  const auto first = static_cast<std::size_t>((c.wish.turn + c.ordinal) % givers.size());
  for (std::size_t k = 0; k < draws_of_each * givers.size(); ++k) {
    const spec::Definition& giver = *givers[(first + k / draws_of_each) % givers.size()];
    const auto apart = c.calls.on(giver, {c.wish.dtype, c.draw.pick(extents)});
    if (!apart || apart->instance.results.size() < 2) continue;
    const auto joined = joining(c, *c.draw.pick(takers), apart->instance.results);
    const std::size_t before = c.draft.results().size();
    if (!joined || !c.draft.add(*apart)) continue;
    for (std::size_t piece = before; piece < c.draft.results().size(); ++piece) c.draft.hide(piece);
    c.draft.add_hidden(*joined, backwards(*joined, c.draft.results({.first = before})));
    return;
  }
}

// What wraps or is cut off between is left out, too; not all integers are large, hence several times.
void add_there_and_back(Composition& c) {
  const spec::Definition& d = *c.wish.about;
  const spec::AttributeText* const end = d.attributes + d.attribute_count;
  const auto* named = std::find_if(d.attributes, end, [](const auto& a) { return a.kind == spec::AttributeKind::dtype; });
  if (named == end || d.operand_count == 0) return;
  const auto converting = [&](DType from, DType to) {
    auto call = c.calls.on(d, {from, {3, 4}});
    if (!call) return call;
    call->assignment.attributes[std::string(d.at(named->name))] = std::string(name_of(to));
    return c.calls.typed(d, std::move(call->assignment));
  };
  const auto [from, to] = way_in_turn(c.wish.dtype, c.turn++);
  const auto there = converting(from, to), back = converting(to, from);
  const auto value = there && back ? c.draft.add_hidden(*there) : std::nullopt;
  if (value) c.draft.add_hidden(*back, {value});
}

}  // namespace etalon::conformance
