#include "compiled/memory/compact.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "compiled/ir/flow.hpp"

namespace etalon::compiled {
namespace {

/// Tensors that follow each other at one place, or what a kernel has of its own.
struct Block {
  std::vector<std::size_t> tensors;
  std::size_t begin = 0;  ///< kernels, both included
  std::size_t end = 0;
  std::size_t bytes = 0;
  std::size_t offset = 0;
  bool of_kernel = false;  ///< the only one in which it lives
};

/// A tensor in the place of another begins in the kernel in which that one ends; otherwise a place is empty between two.
std::vector<Block> blocks_of(const spec::System& system, const Plan& plan, const Flow& flow) {
  std::vector<bool> kept(system.tensors.size());
  for (const Commit& c : plan.commits) kept[static_cast<std::size_t>(system.outputs[c.output])] = true;
  std::map<std::size_t, std::vector<Block>> at;
  for (std::size_t t = 0; t < system.tensors.size(); ++t) {
    const Residence& r = plan.residences[t];
    if (r.home != Home::arena || flow.writers[t].empty()) continue;
    const std::size_t end = kept[t] ? plan.kernels.size() : flow.last_use(static_cast<TensorId>(t));
    at[r.offset].push_back({{t}, flow.writers[t].front(), end, r.bytes});
  }
  std::vector<Block> blocks;
  for (auto& [offset, lives] : at) {
    std::sort(lives.begin(), lives.end(), [](const Block& a, const Block& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    const std::size_t first = blocks.size();
    for (Block& life : lives) {
      const bool follows = blocks.size() > first && blocks.back().end >= life.begin;
      if (!follows) {
        blocks.push_back(std::move(life));
        continue;
      }
      Block& before = blocks.back();
      before.tensors.push_back(life.tensors.front());
      before.end = std::max(before.end, life.end);
      before.bytes = std::max(before.bytes, life.bytes);
    }
  }
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    if (const auto& scratch = plan.kernels[k].scratch) blocks.push_back({{}, k, k, scratch->all_bytes(), 0, true});
  }
  return blocks;
}

/// The lowest place beside those that live at the same time.
std::size_t lowest_place(const Block& block, std::size_t bytes, const std::vector<Block>& placed, std::size_t alignment) {
  std::map<std::size_t, std::size_t> taken;
  for (const Block& other : placed) {
    if (other.end < block.begin || block.end < other.begin) continue;
    std::size_t& end = taken[other.offset];
    end = std::max(end, other.offset + (other.bytes + alignment - 1) / alignment * alignment);
  }
  std::size_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + bytes <= begin) break;
    offset = std::max(offset, end);
  }
  return offset;
}

/// Places the blocks in this order. \returns the bytes that they then take together.
std::size_t place(std::vector<Block>& blocks, std::size_t alignment) {
  std::vector<Block> placed;
  std::size_t size = 0;
  for (Block& block : blocks) {
    const std::size_t bytes = (block.bytes + alignment - 1) / alignment * alignment;
    block.offset = lowest_place(block, bytes, placed, alignment);
    size = std::max(size, block.offset + bytes);
    placed.push_back(block);
  }
  return size;
}

/// Orders of which none is always best: the largest, what lasts longest for its size, what comes first.
using Before = bool (*)(const Block&, const Block&);
std::size_t span(const Block& b) { return b.bytes * (b.end - b.begin + 1); }
constexpr Before orders[] = {
    [](const Block& a, const Block& b) { return a.bytes > b.bytes; },
    [](const Block& a, const Block& b) { return span(a) > span(b); },
    [](const Block& a, const Block& b) { return a.begin < b.begin; },
};

}  // namespace

void compact_arena(const spec::System& system, const PlanOptions& options, Plan& plan) {
  if (!options.reuse) return;
  const std::vector<Block> blocks = blocks_of(system, plan, flow_of(system, plan.kernels));
  for (const Before before : orders) {
    std::vector<Block> ordered = blocks;
    std::stable_sort(ordered.begin(), ordered.end(), before);
    const std::size_t size = place(ordered, options.alignment);
    if (size >= plan.arena_bytes) continue;
    for (const Block& block : ordered) {
      for (const std::size_t t : block.tensors) plan.residences[t].offset = block.offset;
      if (block.of_kernel) plan.kernels[block.begin].scratch->offset = block.offset;
    }
    plan.arena_bytes = size;
  }
}

}  // namespace etalon::compiled
