#include "conformance/broadcasting.hpp"

#include <algorithm>

#include "conformance/attribute_levels.hpp"

namespace etalon::conformance {
namespace {

bool is_shorter(Repeats r) { return r == Repeats::shorter || r == Repeats::shorter_and_repeated; }
bool is_twice(Repeats r) { return r == Repeats::both || r == Repeats::several; }

}  // namespace

std::optional<BroadcastTurn> broadcast_in_turn(std::uint64_t turn, std::size_t pairs) {
  if (pairs == 0) return std::nullopt;
  const std::size_t pattern = level_in_turn(turn / pairs, 0, repeats_count);
  if (pattern >= repeats_count) return std::nullopt;
  return BroadcastTurn{static_cast<std::size_t>(turn % pairs), static_cast<Repeats>(pattern)};
}

std::pair<std::size_t, std::size_t> draw_ranks(Repeats repeats, Draw& draw) {
  const bool needs_two = is_twice(repeats) || repeats == Repeats::shorter_and_repeated;
  const auto rank = static_cast<std::size_t>(draw.integer(needs_two ? 2 : 1, 3));
  if (!is_shorter(repeats)) return {rank, rank};
  return draw.chance(0.5) ? std::pair{rank - 1, rank} : std::pair{rank, rank - 1};
}

void repeat(Repeats repeats, std::vector<std::int64_t>& first, std::vector<std::int64_t>& second, Draw& draw) {
  const std::size_t shared = std::min(first.size(), second.size());
  const std::size_t axes = repeats == Repeats::shorter ? 0 : is_twice(repeats) ? 2 : 1;
  const std::size_t begin = shared < 2 ? 0 : static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(shared) - (is_twice(repeats) ? 2 : 1)));
  // Of several axes one row has all: the first where they begin at an even place from the right.
  const bool of_first = repeats == Repeats::first || (repeats == Repeats::several && begin % 2 == 0) ||
                        (repeats == Repeats::shorter_and_repeated && first.size() < second.size());
  for (std::size_t k = 0; k < shared; ++k) {
    std::int64_t& x = first[first.size() - 1 - k];
    std::int64_t& y = second[second.size() - 1 - k];
    x = y = std::max<std::int64_t>({x, y, 2});
    if (k < begin || k >= begin + axes) continue;
    const bool left = repeats == Repeats::both ? k == begin : of_first;
    (left ? x : y) = 1;
  }
}

}  // namespace etalon::conformance
