/// \file
/// How loops are cut: turns of a loop, and the blocks of a long sum. It depends on extents alone, so that bits do too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Turns that a loop takes: one per element, or per vector of lanes.
[[nodiscard]] inline std::int64_t blocks_of(const Loop& loop) {
  const std::int64_t width = loop.width;
  return (loop.binder.extent + width - 1) / width;
}

/// The loop whose turns threads share, or null.
[[nodiscard]] const Loop* threads_loop(const Nest& nest);

/// A sum of reals in blocks of at most `longest_block` additions: the loop at `level` has `turns` turns in a block, with
/// everything inside. Sums of 2^k blocks wait for another of their size, as the digits of the number of blocks do.
struct SumBlocks {
  std::size_t level = 0;
  std::int64_t turns = 0;
  std::int64_t count = 0;  ///< blocks in all
};

/// How a long sum of reals falls into blocks; nothing where it is short. Only sums of reals do.
[[nodiscard]] std::optional<SumBlocks> sum_blocks(const Reduce& r);

}  // namespace etalon::compiled::loops
