#include "cuda/split.hpp"

#include <algorithm>
#include <bit>
#include <variant>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/blocks.hpp"
#include "compiled/ir/depth.hpp"

namespace etalon::cuda {

using compiled::loops::Loop;
using compiled::loops::Reduce;
using compiled::loops::Step;

namespace {

/// Partial results that keep a chip busy, and what each has to do at least to be worth a launch.
constexpr std::int64_t most_results = machine.multiprocessors * resident_threads;
constexpr std::int64_t least_terms = 64;
constexpr std::int64_t least_parts = 8;
/// Of a contraction: multiprocessors for each tile, and blocks of terms.
constexpr std::int64_t least_idle = 4;
constexpr std::int64_t least_blocks = 8;

const Reduce* first_reduction(const compiled::loops::Nest& nest) {
  const std::vector<const Loop*> loops = loops_of_grid(nest);
  const std::vector<Step>& turn = loops.empty() ? nest.steps : loops.back()->steps;
  return turn.empty() ? nullptr : std::get_if<Reduce>(&turn.front().is);
}

/// One loop that nobody leaves and in which nothing is written; positions and empty sums ask for more than a result.
bool is_plain(const Reduce& r) {
  const bool position = r.reduction == spec::Reduction::argmax || r.reduction == spec::Reduction::argmin;
  if (position || r.otherwise.valid() || r.reached.valid() || r.loops.size() != 1 || r.loops[0].limit.valid()) return false;
  const compiled::loops::Accesses all = compiled::loops::accesses_of(r.loops[0].steps);
  return std::none_of(all.elements.begin(), all.elements.end(), [](const compiled::loops::Access& a) { return a.write; });
}

}  // namespace

Parts parts_of(std::int64_t blocks, std::int64_t block, std::int64_t most) {
  const auto each = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(compiled::parts(blocks, most))));
  return {each * block, blocks / each, blocks % each != 0};
}

std::optional<Split> split_of_tiles(const spec::System& system, const compiled::loops::Nest& nest) {
  const std::vector<const Loop*> loops = loops_of_grid(nest);
  const std::vector<Step>& turn = loops.empty() ? nest.steps : loops.back()->steps;
  const auto* c = turn.size() == 1 ? std::get_if<compiled::loops::Contract>(&turn.front().is) : nullptr;
  if (c == nullptr) return std::nullopt;
  const std::int64_t blocks = c->schedule.depth.blocks, idle = machine.multiprocessors / std::max<std::int64_t>(1, turns_of(nest));
  if (idle < least_idle || blocks < least_blocks) return std::nullopt;
  Split split;
  split.tiles = c;
  split.rounds = true;
  split.grid = grid_of_tiles(system, nest);
  split.turns = split.grid.turns;
  split.chains = c->schedule.tile_rows * c->schedule.tile_columns;
  split.parts = parts_of(blocks, 1, idle);
  if (!split.parts.rest) {
    --split.parts.whole;
    split.parts.rest = true;
  }
  split.bytes = split.results() * static_cast<std::int64_t>(sizeof(double));
  split.grid.turns *= split.parts.count();
  split.grid.blocks = std::clamp<std::int64_t>(split.grid.turns, 1, most_blocks);
  return split;
}

std::optional<Split> split_of(const spec::System& system, const compiled::loops::Nest& nest) {
  if (auto tiles = split_of_tiles(system, nest)) return tiles;
  const Reduce* r = first_reduction(nest);
  if (r == nullptr || !is_plain(*r)) return std::nullopt;
  Split split;
  split.reduce = r;
  split.rounds = rounds(*r);
  const Grid grid = grid_of(system, nest);
  split.turns = grid.turns;
  split.chains = r->tree.chains;
  // Threads that work together join chains; they have none to join.
  if (grid.has_groups() && split.chains == 1) return std::nullopt;
  const std::int64_t extent = r->loops[0].binder.extent;
  const std::int64_t most = most_results / std::max<std::int64_t>(1, split.turns * (split.rounds ? split.chains : 1));
  if (split.rounds) {
    if (!r->tree.blocks) return std::nullopt;
    const std::int64_t block = r->tree.blocks->turns * split.chains, blocks = compiled::parts(extent, block);
    if (std::min(blocks, most) < least_parts) return std::nullopt;
    split.parts = parts_of(blocks, block, most);
  } else {
    const std::int64_t chains = std::min(most, extent / least_terms);
    if (chains < least_parts * split.chains) return std::nullopt;
    split.chains = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(chains)));
  }
  split.bytes = split.results() * exchanged_bytes;
  split.grid.turns = split.results();
  split.grid.threads = machine.block_threads;
  split.grid.blocks = std::clamp<std::int64_t>(compiled::parts(split.results(), split.grid.threads), 1, most_blocks);
  return split;
}

Splits splits_of(const spec::System& system, const compiled::Script& script, const std::vector<compiled::loops::Nest>& nests) {
  Splits all;
  all.arena_bytes = script.arena_bytes;
  const auto place = [&](std::int64_t bytes) {
    constexpr auto alignment = static_cast<std::size_t>(arena_alignment);
    const std::size_t offset = (all.arena_bytes + alignment - 1) / alignment * alignment;
    all.arena_bytes = offset + static_cast<std::size_t>(bytes);
    return compiled::Memory{compiled::Memory::Of::arena, 0, offset, static_cast<std::size_t>(bytes)};
  };
  for (const compiled::Command& command : script.commands) {
    const auto* launch = std::get_if<compiled::Launch>(&command.does);
    if (launch == nullptr) continue;
    if (const auto split = split_of(system, nests[launch->kernel])) all.of.emplace(launch->kernel, PlacedSplit{*split, place(split->bytes)});
    if (const Grid grid = grid_of(system, nests[launch->kernel]); grid.arena_bytes > 0) all.own.emplace(launch->kernel, place(grid.all_arena_bytes()));
  }
  return all;
}

}  // namespace etalon::cuda
