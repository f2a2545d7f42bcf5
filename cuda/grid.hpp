/// \file
/// How many threads and blocks a kernel is launched with, and which of them work together. Which loops they share stands in the kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "compiled/machine/machine.hpp"
#include "cuda/gpu.hpp"

namespace etalon::cuda {

/// Grids are sized for one GPU, so that they are the same on all; no bit depends on it.
inline constexpr Gpu sized_for = gpus[1];
static_assert(sized_for.capability == 90);
inline constexpr auto resident_threads = static_cast<std::int64_t>(sized_for.threads);  ///< of a multiprocessor, at most
/// Of memory that a block shares there is so much on any of them: what is not a kernel's own is for exchange and terms.
inline constexpr std::int64_t most_shared_bytes = [] {
  std::size_t least = gpus[0].block_shared_bytes;
  for (const Gpu& gpu : gpus) least = std::min(least, gpu.block_shared_bytes);
  return static_cast<std::int64_t>(least);
}();
/// Of it, what is kept free of a kernel's own: a value of each of a block's threads and a result.
inline constexpr std::int64_t exchanged_bytes = 8;
inline constexpr std::int64_t most_exchange_bytes = (static_cast<std::int64_t>(sized_for.block_threads) + 1) * exchanged_bytes;

/// What loops are made for. Sums have the order of machines with vectors: what is a lane there is a thread here.
inline constexpr compiled::Machine machine{.lanes_f32 = compiled::order_lanes_f32,
                                           .vector_registers = 32,
                                           .block_threads = 256,
                                           .multiprocessors = static_cast<std::int64_t>(sized_for.multiprocessors),
                                           .shared_bytes = most_shared_bytes - most_exchange_bytes,
                                           .name = "grid",
                                           .architecture = "nvptx64"};
inline constexpr std::int64_t most_blocks = 65535;
inline constexpr std::int64_t warp = 32;

/// How a kernel's loops are shared among threads.
struct Grid {
  std::int64_t turns = 1;         ///< values of the loops' variables together, or squares of them: no more groups than that have work
  std::int64_t blocks = 1;        ///< of `threads` threads; each group takes every so many-th turn
  std::int64_t threads = 1;       ///< one thread does it all where no loop is shared
  std::int64_t at_once = 1;       ///< turns that a thread has at once, `threads` apart, so that their loads are under way together
  std::int64_t side_by_side = 1;  ///< turns that a thread has at once, neighbours in memory
  std::int64_t group = 1;         ///< threads that do a turn together: one, a warp, or a whole block
  std::int64_t least_resident = 1;  ///< blocks on a multiprocessor, for which registers must suffice
  std::int64_t own_bytes = 0;     ///< of shared memory for what a group has of its own
  std::int64_t arena_bytes = 0;   ///< of the arena for each block, where shared memory does not hold what it has of its own
  std::int64_t exchange_bytes = 0;  ///< behind it, for what threads of a block hand over
  std::int64_t terms_bytes = 0;     ///< behind that, for terms of sums
  std::int64_t shared_bytes = 0;  ///< of shared memory in all, of a block
  [[nodiscard]] std::int64_t all_arena_bytes() const { return blocks * arena_bytes; }
  [[nodiscard]] bool has_groups() const { return group > 1; }
  [[nodiscard]] friend bool operator==(const Grid&, const Grid&) = default;
};

/// What the compiler does not know of lies in the arena at multiples of this many bytes.
inline constexpr std::int64_t arena_alignment = 256;

/// The loops that a grid's threads share, outermost first.
[[nodiscard]] std::vector<const compiled::loops::Loop*> loops_of_grid(const compiled::loops::Nest& nest);

/// Nothing but scalars that are stored, and none of them added to what is there.
[[nodiscard]] bool is_element(const std::vector<compiled::loops::Step>& steps);

/// Values of the variables of a grid's loops together.
[[nodiscard]] std::int64_t turns_of(const compiled::loops::Nest& nest);

/// Of a kernel with tiles: a block has one at a time.
[[nodiscard]] Grid grid_of_tiles(const spec::System& system, const compiled::loops::Nest& nest);

/// With which a kernel is launched. Where it joins parts of tiles (split.hpp), its turns are their elements.
[[nodiscard]] Grid grid_of(const spec::System& system, const compiled::loops::Nest& nest);

/// Bytes that an own buffer takes of shared memory.
[[nodiscard]] std::int64_t room_of(const compiled::loops::Buffer& buffer);

/// Whether the order in which a reduction takes in its terms decides its bits.
[[nodiscard]] bool rounds(const compiled::loops::Reduce& r);

/// Bytes of the terms of a reduction that fewer threads can add up than compute them; 0 where each thread has a chain, or a part of one.
/// They lie in shared memory behind what is exchanged.
[[nodiscard]] std::int64_t terms_bytes(const compiled::loops::Reduce& r, compiled::loops::Type real, std::int64_t group);

/// How many threads of a group add up a reduction's terms, each in one chain or in a stretch of one.
struct Team {
  std::int64_t chains = 1;  ///< results before they are joined
  std::int64_t parts = 1;   ///< stretches of each chain, one after the other
};
/// \param group threads, more than one
[[nodiscard]] Team team_of(const compiled::loops::Reduce& r, std::int64_t group);

}  // namespace etalon::cuda
