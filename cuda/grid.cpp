#include "cuda/grid.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "compiled/ir/blocks.hpp"
#include "compiled/ir/depth.hpp"
#include "cuda/fours.hpp"
#include "cuda/fragment_steps.hpp"
#include "cuda/split.hpp"
#include "cuda/squares.hpp"
#include "cuda/warp_loops.hpp"

namespace etalon::cuda {

using compiled::loops::Bind;
using compiled::loops::Contract;
using compiled::loops::Loop;
using compiled::loops::Reduce;
using compiled::loops::Step;

namespace {

constexpr auto most_group = static_cast<std::int64_t>(sized_for.block_threads);
constexpr std::int64_t turns_at_once = 4;
/// On a multiprocessor: so many threads have 128 registers each, and so many sums fill half of all registers.
constexpr std::int64_t threads_of_tiles = 512;
constexpr std::int64_t sums_of_tiles = 32768;
/// Threads that hide the latency of memory, on the whole chip and on a multiprocessor.
constexpr std::int64_t busy_threads = machine.multiprocessors * 1024;
constexpr std::int64_t resident_bytes = 2 * machine.shared_bytes;

/// What of a kernel is done by threads together.
class Together {
 public:
  std::vector<const Contract*> tiles;
  std::int64_t widest = 0;               ///< turns of the longest loop in lanes
  std::vector<std::pair<const Reduce*, compiled::loops::Type>> reductions;  ///< in lanes, with the type of their arithmetic

  Together(const spec::System& system, const compiled::loops::Nest& nest) : system_(system), nest_(nest) { look(nest.steps); }

 private:
  /// What warps do by themselves is no block's.
  void look(const Loop& loop) {
    if (loop.bind != Bind::grid && is_of_warps(system_, nest_, loop)) return;
    if (loop.in_lanes()) widest = std::max(widest, loop.binder.extent);
    look(loop.steps);
  }
  void look(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      if (const auto* loop = std::get_if<Loop>(&s.is)) look(*loop);
      if (const auto* c = std::get_if<Contract>(&s.is)) tiles.push_back(c);
      const auto* r = std::get_if<Reduce>(&s.is);
      if (r == nullptr) continue;
      if (r->tree.chains > 1) reductions.emplace_back(r, s.real);
      for (const Loop& loop : r->loops) look(loop);
    }
  }

  const spec::System& system_;
  const compiled::loops::Nest& nest_;
};

/// Both factors of the steps of each stage, with room between their rows so that threads meet in other banks.
std::int64_t tile_bytes(const Contract& c, bool is_double) {
  const compiled::Schedule& s = c.schedule;
  if (s.fragments != nullptr) return s.shared->stages * fragment_bytes(s, s.tile_rows + s.tile_columns);
  const std::int64_t numbers = s.shared->stages * s.shared->steps * (s.tile_rows + s.tile_columns + 8) * (is_double ? 8 : 4);
  return numbers + (c.taps.valid() ? s.shared->steps * (s.tile_rows + s.tile_columns) : 0);
}

/// Real type of the tiles' step.
bool is_double(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& s) {
    if (const auto* loop = std::get_if<Loop>(&s.is)) return is_double(loop->steps);
    return std::holds_alternative<Contract>(s.is) && s.real == compiled::loops::Type::f64;
  });
}

/// Of shared memory, what a block needs for each of its threads to hand over values of the reductions.
std::int64_t exchange_of(const Together& together, std::int64_t group) {
  std::int64_t values = 0;
  for (const auto& [r, real] : together.reductions) {
    const Team team = team_of(*r, group);
    values = std::max(values, team.chains * team.parts);
  }
  return (values + 1) * exchanged_bytes;
}

/// Blocks that are there at a time: those of their turns that have memory.
constexpr std::int64_t blocks_in_arena = 2 * machine.multiprocessors;

/// All of a kernel's tiles have the same threads.
void tiles(const compiled::loops::Nest& nest, const Together& together, Grid& grid) {
  const compiled::Schedule& first = together.tiles.front()->schedule;
  grid.group = grid.threads = first.tile_rows / first.shared->rows * (first.tile_columns / first.shared->columns);
  std::int64_t staged = 0, sums = 0;
  for (const Contract* c : together.tiles) {
    staged = std::max(staged, tile_bytes(*c, is_double(nest.steps)));
    sums = std::max(sums, c->schedule.shared->rows * c->schedule.shared->columns);
  }
  if (!together.reductions.empty()) grid.exchange_bytes = (exchange_of(together, grid.group) + 15) / 16 * 16;
  if (grid.own_bytes + grid.exchange_bytes + staged > most_shared_bytes) {
    grid.arena_bytes = (grid.own_bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
    grid.own_bytes = 0;
  }
  grid.shared_bytes = grid.own_bytes + grid.exchange_bytes + staged;
  grid.blocks = std::clamp<std::int64_t>(grid.turns, 1, grid.arena_bytes > 0 ? blocks_in_arena : most_blocks);
  grid.least_resident = std::max<std::int64_t>(1, std::min(threads_of_tiles, sums_of_tiles / sums) / grid.threads);
}

void squares(const Squares& found, Grid& grid) {
  grid.turns = found.count;
  grid.group = grid.threads = square_threads;
  grid.shared_bytes = found.bytes;
  grid.blocks = std::clamp<std::int64_t>(found.count, 1, most_blocks);
}

/// A warp for each turn where there are enough turns, else more warps.
void groups(const Together& together, Grid& grid) {
  grid.group = warp;
  const auto is_idle = [&] { return grid.turns * grid.group < busy_threads || grid.own_bytes * (resident_threads / grid.group) > resident_bytes; };
  while (grid.group < most_group && 2 * grid.group <= together.widest && is_idle()) grid.group *= 2;
  std::int64_t per_block = 1;
  if (grid.group == warp) {
    per_block = machine.block_threads / warp;
    if (grid.own_bytes > 0) per_block = std::clamp<std::int64_t>(machine.shared_bytes / grid.own_bytes, 1, per_block);
  }
  per_block = std::clamp<std::int64_t>(grid.turns, 1, per_block);
  grid.threads = grid.group * per_block;
  grid.shared_bytes = per_block * grid.own_bytes;
  if (grid.group > warp) {
    grid.exchange_bytes = exchange_of(together, grid.group);
    const std::int64_t room = most_shared_bytes - grid.own_bytes - grid.exchange_bytes;
    for (const auto& [r, real] : together.reductions) {
      const std::int64_t terms = terms_bytes(*r, real, grid.group);
      if (terms <= room) grid.terms_bytes = std::max(grid.terms_bytes, terms);
    }
    grid.shared_bytes += grid.exchange_bytes + grid.terms_bytes;
  }
  grid.blocks = std::clamp<std::int64_t>(compiled::parts(grid.turns, per_block), 1, most_blocks);
}

}  // namespace

std::vector<const Loop*> loops_of_grid(const compiled::loops::Nest& nest) {
  std::vector<const Loop*> all;
  const Loop* loop = compiled::loops::threads_loop(nest);
  while (loop != nullptr && loop->bind == Bind::grid) {
    all.push_back(loop);
    loop = loop->steps.size() == 1 ? std::get_if<Loop>(&loop->steps.front().is) : nullptr;
  }
  return all;
}

bool is_element(const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& s) {
    const auto* store = std::get_if<compiled::loops::Store>(&s.is);
    return (store != nullptr && !store->add) || std::holds_alternative<compiled::loops::Define>(s.is);
  });
}

std::int64_t turns_of(const compiled::loops::Nest& nest) {
  std::int64_t turns = 1;
  for (const Loop* loop : loops_of_grid(nest)) turns *= loop->binder.extent;
  return turns;
}

std::int64_t room_of(const compiled::loops::Buffer& buffer) { return (buffer.bytes + 15) / 16 * 16; }

bool rounds(const Reduce& r) { return r.body.kind() == Kind::real && (r.reduction == spec::Reduction::sum || r.reduction == spec::Reduction::prod); }

Team team_of(const Reduce& r, std::int64_t group) {
  if (!rounds(r)) return {group, 1};
  Team team{r.tree.chains, 1};
  if (r.tree.blocks && r.loops.size() == 1 && group > team.chains) team.parts = group / team.chains;
  return team;
}

std::int64_t terms_bytes(const Reduce& r, compiled::loops::Type real, std::int64_t group) {
  const Team team = team_of(r, group);
  if (group == warp || !rounds(r) || team.chains * team.parts >= group || r.loops.size() != 1 || r.tree.blocks) return 0;
  return r.loops.front().binder.extent * (real == compiled::loops::Type::f64 ? 8 : 4);
}

namespace {

Grid with_own_memory(const compiled::loops::Nest& nest) {
  Grid grid;
  grid.turns = turns_of(nest);
  for (const compiled::loops::Buffer& b : nest.buffers) {
    if (b.scope == compiled::loops::Scope::thread) grid.own_bytes += room_of(b);
  }
  return grid;
}

/// A thread for each element of the tiles.
void joined_tiles(const Split& split, Grid& grid) {
  grid.turns = split.turns * split.chains;
  grid.threads = machine.block_threads;
  grid.blocks = std::clamp<std::int64_t>(compiled::parts(grid.turns, grid.threads), 1, most_blocks);
}

}  // namespace

Grid grid_of_tiles(const spec::System& system, const compiled::loops::Nest& nest) {
  Grid grid = with_own_memory(nest);
  tiles(nest, Together(system, nest), grid);
  return grid;
}

Grid grid_of(const spec::System& system, const compiled::loops::Nest& nest) {
  Grid grid = with_own_memory(nest);
  const std::vector<const Loop*> shared = loops_of_grid(nest);
  const Together together(system, nest);
  if (const std::optional<Split> split = split_of_tiles(system, nest)) {
    joined_tiles(*split, grid);
  } else if (!together.tiles.empty()) {
    tiles(nest, together, grid);
  } else if (together.widest > 1) {
    groups(together, grid);
  } else if (const std::optional<Squares> found = squares_of(system, nest)) {
    squares(*found, grid);
  } else if (!shared.empty()) {
    grid.threads = machine.block_threads;
    if (fours_of(system, nest)) grid.side_by_side = neighbours;
    else if (is_element(shared.back()->steps) && grid.turns >= turns_at_once * machine.multiprocessors * resident_threads) grid.at_once = turns_at_once;
    grid.blocks = std::clamp<std::int64_t>(compiled::parts(grid.turns, grid.threads * grid.at_once * grid.side_by_side), 1, most_blocks);
  }
  return grid;
}

}  // namespace etalon::cuda
