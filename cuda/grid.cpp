#include "cuda/grid.hpp"

#include <algorithm>

#include "compiled/ir/blocks.hpp"

namespace etalon::cuda {

using compiled::loops::Bind;
using compiled::loops::Loop;

std::vector<const Loop*> loops_of_grid(const compiled::loops::Nest& nest) {
  std::vector<const Loop*> all;
  const Loop* loop = compiled::loops::threads_loop(nest);
  while (loop != nullptr && loop->bind == Bind::grid) {
    all.push_back(loop);
    loop = loop->steps.size() == 1 ? std::get_if<Loop>(&loop->steps.front().is) : nullptr;
  }
  return all;
}

Grid grid_of(const compiled::loops::Nest& nest) {
  Grid grid;
  for (const Loop* loop : loops_of_grid(nest)) {
    grid.threads = machine.block_threads;
    grid.elements *= loop->binder.extent;
  }
  grid.blocks = std::clamp<std::int64_t>((grid.elements + grid.threads - 1) / grid.threads, 1, most_blocks);
  if (grid.threads == 1) grid.blocks = 1;
  return grid;
}

}  // namespace etalon::cuda
