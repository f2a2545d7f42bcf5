/// \file
/// How loops are cut: turns of a loop, and the blocks of a long sum. It depends on extents alone, so that bits do too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Turns that a loop takes: one per element, or per vector of lanes.
[[nodiscard]] inline std::int64_t blocks_of(const Loop& loop) {
  const std::int64_t width = loop.width;
  return loop.binder.extent / width + (loop.binder.extent % width != 0 ? 1 : 0);
}

/// The loop whose turns threads share, or null.
[[nodiscard]] const Loop* threads_loop(const Nest& nest);

/// The tree of profile `etalon-order-1` (docs/decisions/0070) for a reduction of values of that kind: a chain for each lane of its innermost
/// loop, and chains of sums of reals in blocks of at most `longest_block` terms where they are longer.
[[nodiscard]] Tree tree_of(spec::Reduction reduction, Kind body, const std::vector<Loop>& loops);

/// Terms that a chain takes in one after the other before their result is joined with another.
[[nodiscard]] std::int64_t longest_sequence(const Reduce& r);

/// Blocks of a chain in all.
/// \param blocks those of the reduction's tree
[[nodiscard]] std::int64_t count_of(const TermBlocks& blocks, const std::vector<Loop>& loops);

}  // namespace etalon::compiled::loops
