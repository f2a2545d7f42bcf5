#include "compiled/ir/depth.hpp"

#include <bit>

#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

using spec::Binder;

namespace {

std::size_t first_tap(const std::vector<Binder>& depth) {
  if (depth.size() < 2) return depth.size();
  std::size_t first = depth.size();
  std::int64_t steps = 1;
  while (first > 0 && depth[first - 1].extent <= threshold("longest_tap_loop") && steps * depth[first - 1].extent <= threshold("most_taps")) {
    steps *= depth[--first].extent;
  }
  return first;
}

}  // namespace

DepthWalk walk(const std::vector<Binder>& depth, bool last_at_once) {
  DepthWalk w;
  w.taps = last_at_once ? depth.size() - 1 : first_tap(depth);
  std::int64_t all = 1;
  for (const Binder& b : depth) all *= b.extent;
  std::size_t level = depth.size();
  while (level > 0 && w.inside * depth[level - 1].extent <= longest_block) w.inside *= depth[--level].extent;
  if (level == 0) {
    w.turns = depth.empty() ? 1 : depth[0].extent;
    w.inside /= w.turns;
    return w;
  }
  w.level = level - 1;
  const std::int64_t extent = depth[w.level].extent;
  const std::int64_t outside = all / (extent * w.inside);
  const auto fall_into = [&](std::int64_t turns) {
    w.turns = turns;
    w.blocks = outside * parts(extent, turns);
  };
  fall_into(longest_block / w.inside);
  if (outside == 1) return w;
  // Blocks of one size. Where there are more of them than of full ones, their tree must not be taller than declared.
  const auto height = [](std::int64_t longest, std::int64_t blocks) {
    return longest + static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(blocks - 1)));
  };
  fall_into(parts(extent, parts(extent, w.turns)));
  while (w.turns > 1 && height(w.longest(), w.blocks) > height(longest_block, parts(all, longest_block))) fall_into(w.turns - 1);
  return w;
}

}  // namespace etalon::compiled
