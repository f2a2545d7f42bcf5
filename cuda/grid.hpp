/// \file
/// How many threads and blocks a kernel is launched with. Which loops they share stands in the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::cuda {

/// What loops are bound for.
inline constexpr compiled::Machine machine{.block_threads = 256};
inline constexpr std::int64_t most_blocks = 65535;

/// How a kernel's loops are shared among threads.
struct Grid {
  std::int64_t elements = 1;  ///< values of the loops' variables together: no more threads than that have work
  std::int64_t blocks = 1;    ///< of `threads` threads, each of which takes every so many-th element
  std::int64_t threads = 1;   ///< one thread does it all where no loop is shared
};

/// The loops that a grid's threads share, outermost first.
[[nodiscard]] std::vector<const compiled::loops::Loop*> loops_of_grid(const compiled::loops::Nest& nest);

[[nodiscard]] Grid grid_of(const compiled::loops::Nest& nest);

}  // namespace etalon::cuda
