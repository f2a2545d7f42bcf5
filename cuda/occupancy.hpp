/// \file
/// How many of a launch's threads a GPU holds at one time. It knows neither kernels' code nor what they do.
#pragma once

#include <cstddef>

#include "cuda/gpu.hpp"

namespace etalon::cuda {

/// What a launch asks of the multiprocessors.
struct LaunchNeeds {
  std::size_t blocks = 1;
  std::size_t threads = 1;       ///< of a block
  std::size_t registers = 0;     ///< of a thread
  std::size_t shared_bytes = 0;  ///< of a block, declared and asked for
};

/// Blocks that one multiprocessor holds at one time, by what runs out first: threads, places for blocks, registers or shared memory. 0: it
/// cannot be launched.
[[nodiscard]] std::size_t resident_blocks(const LaunchNeeds& needs, const Gpu& gpu);

/// Threads that a multiprocessor holds of those that it could, 0 to 1, were there blocks enough.
[[nodiscard]] double occupancy(const LaunchNeeds& needs, const Gpu& gpu);

/// Threads that are launched over those that the whole chip could hold: below 1 some of it has nothing to do, whatever else is right.
[[nodiscard]] double threads_launched(const LaunchNeeds& needs, const Gpu& gpu);

}  // namespace etalon::cuda
