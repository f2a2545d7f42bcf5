/// \file
/// How two rows of axes that broadcast differ, by turns: which of them is repeated, along how many axes, and whether one is shorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/draw.hpp"

namespace etalon::conformance {

/// What is repeated where two rows broadcast.
enum class Repeats : std::uint8_t {
  first,                ///< along one axis of the first row
  second,               ///< along one axis of the second row
  both,                 ///< along one axis of each
  several,              ///< along two axes of one row
  shorter,              ///< one row has an axis less
  shorter_and_repeated  ///< and an inner one is repeated, too
};
inline constexpr std::size_t repeats_count = 6;

/// The pair of rows that has a pattern in this turn, and the pattern; nothing in turns that are drawn freely.
struct BroadcastTurn {
  std::size_t pair = 0;
  Repeats repeats = Repeats::first;
};
[[nodiscard]] std::optional<BroadcastTurn> broadcast_in_turn(std::uint64_t turn, std::size_t pairs);

/// Ranks of the two rows at which the pattern can be had.
[[nodiscard]] std::pair<std::size_t, std::size_t> draw_ranks(Repeats repeats, Draw& draw);

/// Gives two rows the pattern: where it says so one of them has extent 1, elsewhere they agree on 2 or more.
void repeat(Repeats repeats, std::vector<std::int64_t>& first, std::vector<std::int64_t>& second, Draw& draw);

}  // namespace etalon::conformance
