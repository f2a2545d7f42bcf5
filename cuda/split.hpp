/// \file
/// Long reductions of few results, and contractions of great depth whose tiles are few: a kernel of their own reduces parts of them, which the
/// kernel that they stand in joins. Parts are nodes of the reduction's tree, so that no bit depends on how many there are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "compiled/ir/script.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

/// What the kernel is called that makes partial results for one.
[[nodiscard]] inline std::string parts_kernel(const std::string& kernel) { return kernel + "_in_parts"; }

/// How the blocks of a chain of a sum fall into parts: each of a power of two of them, but for the last one.
struct Parts {
  std::int64_t length = 0;  ///< elements of the chains' loop in a part
  std::int64_t whole = 0;   ///< parts with all their blocks
  bool rest = false;        ///< another one with fewer
  [[nodiscard]] std::int64_t count() const { return whole + (rest ? 1 : 0); }
};

/// \param blocks of `block` elements, the last one perhaps shorter
/// \param most parts
[[nodiscard]] Parts parts_of(std::int64_t blocks, std::int64_t block, std::int64_t most);

/// A reduction in parts. Partial results lie one behind the other: [part][turn][chain], or [part][tile][row][column].
struct Split {
  const compiled::loops::Reduce* reduce = nullptr;   ///< this one,
  const compiled::loops::Contract* tiles = nullptr;  ///< or this one: its turns are tiles, its parts' lengths blocks of terms, the last part is the rest
  bool rounds = false;       ///< what is exact has chains alone, as many as there are partial results of a turn
  std::int64_t turns = 1;    ///< of the kernel
  std::int64_t chains = 1;
  Parts parts{1, 1, false};
  std::int64_t bytes = 0;    ///< of all partial results
  Grid grid{};               ///< of the kernel that makes them: a thread has one, or a block has a tile of them
  [[nodiscard]] std::int64_t results() const { return parts.count() * turns * chains; }
};

/// The contraction that is all of a kernel's turn, where its tiles would leave most of a chip idle and it is deep.
[[nodiscard]] std::optional<Split> split_of_tiles(const spec::System& system, const compiled::loops::Nest& nest);

/// That, or the first reduction of a kernel's turn, where its threads would leave most of a chip idle and it is long.
[[nodiscard]] std::optional<Split> split_of(const spec::System& system, const compiled::loops::Nest& nest);

/// A split with the memory of its partial results.
struct PlacedSplit {
  Split split;
  compiled::Memory memory;  ///< in the arena, behind what the script says of it
};

/// Those of a program's kernels, and what of the arena their blocks have of their own.
struct Splits {
  std::map<std::size_t, PlacedSplit> of;  ///< by the kernel's number
  std::map<std::size_t, compiled::Memory> own;  ///< the same, of kernels whose grids ask for it
  std::size_t arena_bytes = 0;            ///< with all of it
};
[[nodiscard]] Splits splits_of(const spec::System& system, const compiled::Script& script, const std::vector<compiled::loops::Nest>& nests);

}  // namespace etalon::cuda
