#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <variant>

#include "conformance/composer.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

using Taken = std::vector<std::optional<std::string>>;
using Types = std::vector<std::optional<spec::ValueType>>;

bool takes_several(const spec::Definition& d) { return d.operand_count == 1 && d.operands[0].pack; }

bool gives_several(const spec::Definition& d) { return d.result_count > 1 || d.results[0].pack; }

/// Whether the last two axes could be exchanged, and would tell.
bool is_square(const spec::ValueType& type) {
  const std::size_t rank = type.dims.rank;
  return rank >= 2 && type.dims[rank - 1] > 1 && type.dims[rank - 1] == type.dims[rank - 2];
}

}  // namespace

std::optional<Composer::Drawn> Composer::broadcast_over(const spec::ValueType& type) {
  constexpr int draws = 16;
  for (int k = 0; k < draws && !elementwise_.empty(); ++k) {
    const spec::Definition& d = *draw_.pick(elementwise_);
    if (d.operand_count != 2) continue;
    auto found = drawn_on(d, type, true);
    if (!found || std::count(found->types.operands.begin(), found->types.operands.end(), std::optional(type)) != 2) continue;
    const auto narrow = static_cast<std::size_t>(draw_.chance(0.7) ? 1 : 0);
    auto& extents = found->assignment.rows[row_key(d.at(d.operands[narrow].axes))];
    if (extents.size() != type.dims.rank) continue;
    const auto axes = static_cast<std::int64_t>(extents.size());
    extents[static_cast<std::size_t>(draw_.integer(std::max<std::int64_t>(0, axes - 2), axes - 1))] = 1;
    found = typed(d, std::move(found->assignment));
    if (found && found->result == type) return found;
  }
  return std::nullopt;
}

std::optional<Composer::Drawn> Composer::drawn_alone(std::int64_t elements, bool square) {
  const SizeWish wish{.elements = elements, .edges = false, .defaults = false};
  auto assignment = draw_assignment(*wish_.about, draw_, wish, wish_.dtype);
  if (!assignment) return std::nullopt;
  if (square) {
    const std::int64_t side = draw_.integer(2, 4);
    for (auto& [name, extent] : assignment->extents) extent = side;
  }
  return typed(*wish_.about, std::move(*assignment));
}

// Who joins the two may read a column as a row, which nothing but a square tells apart.
void Composer::add_epilogue() {
  constexpr int draws = 8;
  std::optional<Drawn> base;
  for (int k = 0; k < draws && !(base && is_square(base->result)); ++k) {
    auto found = drawn_alone(std::max<std::int64_t>(wish_.elements, 24), k % 2 == 0);
    if (found && found->result.dims.rank > 0 && (!base || is_square(found->result))) base = std::move(found);
  }
  const auto last = base ? broadcast_over(base->result) : std::nullopt;
  const auto value = last ? add_hidden(*base, {}) : std::nullopt;
  if (!value) return;
  Taken taken(last->types.operands.size());
  const auto place = std::find(last->types.operands.begin(), last->types.operands.end(), std::optional(base->result));
  taken[static_cast<std::size_t>(place - last->types.operands.begin())] = value;
  (void)add_hidden(*last, std::move(taken));
}

std::optional<Composer::Drawn> Composer::joining(const spec::Definition& d, const std::vector<spec::ValueType>& pieces) {
  const Types wanted(pieces.begin(), pieces.end());
  const bool told_apart = std::adjacent_find(pieces.begin(), pieces.end(), std::not_equal_to<>()) != pieces.end();
  constexpr int draws = 40;
  for (int k = 0; k < draws; ++k) {
    SizeWish wish{.elements = std::max<std::int64_t>(wish_.elements, 24), .edges = false, .defaults = false};
    const Dims& dims = pieces.back().dims;
    wish.fit = Fit{0, {dims.begin(), dims.end()}};
    auto assignment = draw_assignment(d, draw_, wish, wish_.dtype);
    auto found = assignment ? typed(d, std::move(*assignment)) : std::nullopt;
    if (!found) continue;
    const Types& read = found->types.operands;
    // In the order in which they were given, joining them changes nothing.
    if (told_apart && read == wanted) continue;
    if (std::is_permutation(read.begin(), read.end(), wanted.begin(), wanted.end())) return found;
  }
  return std::nullopt;
}

// Compilers give back what was taken apart, and forget that the order must be the same.
void Composer::add_rejoined() {
  static const std::vector<Dims> extents{{4, 3}, {6}, {2, 4}, {2, 2}};
  std::vector<const spec::Definition*> givers, takers;
  for (const spec::Definition* d : moves_) {
    if (gives_several(*d)) givers.push_back(d);
    if (takes_several(*d)) takers.push_back(d);
  }
  if (takes_several(*wish_.about)) takers = {wish_.about};
  else if (gives_several(*wish_.about)) givers = {wish_.about};
  else return;
  if (givers.empty() || takers.empty()) return;
  // Each giver in turn: some of them find who joins their pieces in any draw, others in few.
  constexpr std::size_t draws_of_each = 30;
  const auto first = static_cast<std::size_t>((wish_.turn + rejoined_++) % givers.size());
  for (std::size_t k = 0; k < draws_of_each * givers.size(); ++k) {
    const spec::Definition& giver = *givers[(first + k / draws_of_each) % givers.size()];
    const auto apart = drawn_on(giver, {wish_.dtype, draw_.pick(extents)});
    if (!apart) continue;
    const std::vector<spec::ValueType> pieces = instance_of(apart->types, wish_.library).results;
    const auto joined = pieces.size() > 1 ? joining(*draw_.pick(takers), pieces) : std::nullopt;
    const std::size_t before = results_.size();
    if (!joined || !add_hidden(*apart, {})) continue;
    Taken taken(pieces.size());
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      const auto& [name, type] = results_[before + piece];
      hidden_.insert(name);
      for (std::size_t place = pieces.size(); place-- > 0;) {
        if (taken[place] || joined->types.operands[place] != type) continue;
        taken[place] = name;
        break;
      }
    }
    (void)add_hidden(*joined, std::move(taken));
    return;
  }
}

std::optional<Composer::Drawn> Composer::around(const Fit& read, std::size_t windows) {
  spec::ValueType type{wish_.dtype, {}};
  for (const std::int64_t extent : read.extents) type.dims.push_back(extent);
  auto found = drawn_on(*draw_.pick(surrounding_), type);
  if (!found) return std::nullopt;
  found->assignment.attributes = instance_of(found->types, wish_.library).attributes;  // those that were left out too
  for (auto& [name, value] : found->assignment.attributes) {
    auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) (*list)[k] = k < list->size() - windows ? 0 : draw_.integer(0, 2);
    if (auto* number = std::get_if<double>(&value); number != nullptr && *number == 0) *number = draw_.pick(std::vector{1.5, -2.0, 0.25});
  }
  return typed(*found->definition, std::move(found->assignment));
}

// Compilers make numbers around an operand the zeros that its windows read beyond the ends.
void Composer::add_surrounded() {
  const auto windows = static_cast<std::size_t>(std::max<int>(wish_.about->family_rank, 0));
  constexpr int draws = 8;
  for (int k = 0; k < draws && windows > 0 && !surrounding_.empty(); ++k) {
    const auto read = what_is_read();
    const auto numbers = read && read->extents.size() >= windows ? around(*read, windows) : std::nullopt;
    const auto over = numbers ? drawn_on(*wish_.about, numbers->result) : std::nullopt;
    if (!over) continue;
    if (const auto value = add_hidden(*numbers, {})) (void)add_hidden(*over, {value});
    return;
  }
}

// Compilers leave both out, and what wraps or is cut off between; not all integers are large, hence several times.
void Composer::add_there_and_back() {
  const spec::Definition& d = *wish_.about;
  const auto named = std::find_if(d.attributes, d.attributes + d.attribute_count, [](const auto& a) { return a.kind == spec::AttributeKind::dtype; });
  if (named == d.attributes + d.attribute_count || d.operand_count == 0) return;
  const DType real = wish_.dtype, other = real == DType::f64 ? DType::f32 : DType::f64;
  const std::array<std::pair<DType, DType>, ways_there_and_back> ways{{{DType::i64, DType::i32}, {real, DType::i32}, {DType::i64, real}, {DType::i64, DType::i32}, {DType::i32, real}, {real, other}, {DType::i64, DType::i32}, {DType::i64, DType::boolean}}};
  const auto [from, to] = ways[static_cast<std::size_t>(turn_++ % ways.size())];
  const auto converting = [&](DType of, DType into, const Dims& dims) {
    auto call = drawn_on(d, {of, dims});
    if (!call) return call;
    call->assignment.attributes[std::string(d.at(named->name))] = std::string(name_of(into));
    return typed(d, std::move(call->assignment));
  };
  const Dims dims{3, 4};
  const auto there = converting(from, to, dims), back = converting(to, from, dims);
  const auto value = there && back ? add_hidden(*there, {}) : std::nullopt;
  if (value) (void)add_hidden(*back, {value});
}

}  // namespace etalon::conformance
