/// \file
/// Maps whose elements lie side by side along one loop where they are written and along another one where they are read: a block goes
/// through squares of both loops, so that neighbours are neighbours on both sides. It finds them by their index maps; it writes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::cuda {

/// Turns of either loop in a square: a warp's threads.
inline constexpr std::int64_t square_side = 32;
/// Numbers between two rows of a square: its columns lie in different banks, too.
inline constexpr std::int64_t square_pitch = square_side + 1;
/// Rows that a block does at once, each a warp's.
inline constexpr std::int64_t square_rows = 8;
inline constexpr std::int64_t square_threads = square_side * square_rows;

/// What a map reads along another loop than it writes.
struct Squares {
  std::size_t written = 0;             ///< of the grid's loops: its neighbours are neighbours where they are written
  std::size_t read = 0;                ///< the same where they are read
  std::vector<spec::Expr> elements{};  ///< those that are read so, at any turn
  std::vector<std::int64_t> offsets{};  ///< of their squares in memory that a block shares
  std::int64_t bytes = 0;              ///< of all of them
  std::int64_t count = 0;              ///< squares that cover both loops, for all turns of the others
};

/// Nothing where every read suits the writes, where what is read is not known to be inside of its tensor, or where a loop is shorter than half
/// of a square. Threads share all of the kernel's loops, and their steps are those of one element.
[[nodiscard]] std::optional<Squares> squares_of(const spec::System& system, const compiled::loops::Nest& nest);

}  // namespace etalon::cuda
