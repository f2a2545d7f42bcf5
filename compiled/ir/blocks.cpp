#include "compiled/ir/blocks.hpp"

#include <algorithm>

#include "compiled/ir/depth.hpp"

namespace etalon::compiled::loops {

namespace {

/// A product that stops at the largest number there is.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// Turns of the loops from this one on, together.
std::int64_t turns_from(std::size_t level, const std::vector<Loop>& loops) {
  std::int64_t turns = 1;
  for (; level < loops.size(); ++level) turns = times(turns, blocks_of(loops[level]));
  return turns;
}

}  // namespace

const Loop* threads_loop(const Nest& nest) {
  const Loop* loop = nest.steps.empty() ? nullptr : std::get_if<Loop>(&nest.steps.back().is);
  return loop != nullptr && (loop->bind == Bind::cores || loop->bind == Bind::grid) ? loop : nullptr;
}

Tree tree_of(spec::Reduction reduction, Kind body, const std::vector<Loop>& loops) {
  Tree tree;
  if (!loops.empty()) tree.chains = loops.back().width;
  if (reduction != spec::Reduction::sum || body != Kind::real) return tree;
  std::size_t level = loops.size();
  while (level > 0 && turns_from(level - 1, loops) <= longest_block) --level;
  if (level == 0) return tree;
  tree.blocks = {level - 1, std::max<std::int64_t>(1, longest_block / turns_from(level, loops))};
  return tree;
}

std::int64_t longest_sequence(const Reduce& r) {
  if (!r.tree.blocks) return turns_from(0, r.loops);
  const auto [level, turns] = *r.tree.blocks;
  return times(std::min(turns, blocks_of(r.loops[level])), turns_from(level + 1, r.loops));
}

std::int64_t count_of(const TermBlocks& blocks, const std::vector<Loop>& loops) {
  std::int64_t count = parts(blocks_of(loops[blocks.level]), blocks.turns);
  for (std::size_t l = 0; l < blocks.level; ++l) count *= blocks_of(loops[l]);
  return count;
}

}  // namespace etalon::compiled::loops
