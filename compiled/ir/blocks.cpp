#include "compiled/ir/blocks.hpp"

#include <algorithm>

#include "compiled/ir/depth.hpp"

namespace etalon::compiled::loops {

const Loop* threads_loop(const Nest& nest) {
  const Loop* loop = nest.steps.empty() ? nullptr : std::get_if<Loop>(&nest.steps.back().is);
  return loop != nullptr && (loop->bind == Bind::cores || loop->bind == Bind::grid) ? loop : nullptr;
}

std::optional<SumBlocks> sum_blocks(const Reduce& r) {
  if (r.reduction != spec::Reduction::sum || r.body.kind() != Kind::real) return std::nullopt;
  std::int64_t inner = 1;
  std::size_t level = r.loops.size();
  while (level > 0 && inner * blocks_of(r.loops[level - 1]) <= longest_block) inner *= blocks_of(r.loops[--level]);
  if (level == 0) return std::nullopt;
  SumBlocks blocks;
  blocks.level = level - 1;
  blocks.turns = std::max<std::int64_t>(1, longest_block / inner);
  blocks.count = (blocks_of(r.loops[blocks.level]) + blocks.turns - 1) / blocks.turns;
  for (std::size_t l = 0; l < blocks.level; ++l) blocks.count *= blocks_of(r.loops[l]);
  return blocks;
}

}  // namespace etalon::compiled::loops
