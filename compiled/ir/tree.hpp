/// \file
/// In which tree the terms of a reduction are combined: a value that whoever executes a kernel obeys, so that its bits are
/// everybody's. It says which result takes in which term and which result, and nothing of who does it: lanes of a vector,
/// threads of a warp, or one thread after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace etalon::compiled::loops {

/// How the terms of one chain are cut. A block is some turns of one loop with everything inside, combined one after the
/// other from the neutral element; the results of 2^k blocks wait for those of the next 2^k, as the digits of the number of
/// blocks do, and those that wait in the end are combined from the fewest blocks to the most.
struct TermBlocks {
  std::size_t level = 0;   ///< the loop, counted from the outermost
  std::int64_t turns = 1;  ///< of that loop in a block, the last one perhaps fewer; one of the innermost loop takes a term into each chain
  [[nodiscard]] friend bool operator==(const TermBlocks&, const TermBlocks&) = default;
};

/// Terms have the order of the reduction's loops. Chain c of n takes in those of the innermost loop's iterations c, c + n,
/// c + 2n, …; it begins with the neutral element. At the end chain c takes in chain c + n/2, for each c < n/2, and so on with half
/// as many until one is left.
struct Tree {
  unsigned chains = 1;               ///< results side by side, a power of two
  std::optional<TermBlocks> blocks{};  ///< nothing: a chain is one sequence
  [[nodiscard]] friend bool operator==(const Tree&, const Tree&) = default;
};

}  // namespace etalon::compiled::loops
