/// \file
/// How a tile walks the loops of a contraction's sum: which of them fall into blocks of terms, and which are written out.
/// It depends on their extents alone, so that the bits of an element do too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// How many pieces of that size cover n, the last one perhaps not full.
[[nodiscard]] constexpr std::int64_t parts(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Terms that are added in sequence before a balanced tree joins their sums; the contract of the backend says so.
inline constexpr std::int64_t longest_block = 64;

/// The loops of a sum, outermost first, as its terms are added. A block is some turns of one loop, with everything inside.
struct DepthWalk {
  std::size_t level = 0;    ///< the loop whose turns fall into blocks
  std::int64_t turns = 1;   ///< of that loop in a block; in the last one perhaps fewer
  std::int64_t inside = 1;  ///< terms in one of its turns
  std::int64_t blocks = 1;  ///< in all
  std::size_t taps = 0;     ///< from this loop on every step is written out by itself, as for the few places of a window
  [[nodiscard]] std::int64_t longest() const { return turns * inside; }
  friend bool operator==(const DepthWalk&, const DepthWalk&) = default;
};

/// \param last_at_once whether an instruction takes all of the last loop's terms at once: that loop alone is written out
[[nodiscard]] DepthWalk walk(const std::vector<spec::Binder>& depth, bool last_at_once = false);

}  // namespace etalon::compiled
