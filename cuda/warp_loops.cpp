#include "cuda/warp_loops.hpp"

#include "compiled/ir/accesses.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Step;

bool has_tiles_among_steps(const Nest& nest) {
  const std::vector<const Loop*> loops = loops_of_grid(nest);
  const std::vector<Step>& turn = loops.empty() ? nest.steps : loops.back()->steps;
  return turn.size() > 1 && compiled::loops::accesses_of(turn).in_tiles;
}

/// The grid's loops have one value in a turn.
bool is_of_warps(const spec::System& system, const Nest& nest, const Loop& loop) {
  if (loop.in_lanes() || !has_tiles_among_steps(nest)) return false;
  spec::Substitution turn;
  for (const Loop* outer : loops_of_grid(nest)) turn.emplace(outer->binder.variable, spec::integer(0));
  compiled::loops::Accesses all = compiled::loops::accesses_of(loop.steps);
  if (all.in_tiles) return false;
  all.extents[loop.binder.variable] = loop.binder.extent;
  for (compiled::loops::Access& a : all.elements) {
    for (spec::Expr& index : a.place) index = spec::substitute(index, turn);
  }
  const auto is_own = [](spec::TensorId) { return false; };
  const auto share = [](spec::TensorId a, spec::TensorId b) { return a == b; };
  return !compiled::loops::meeting(system, all, loop.binder.variable, is_own, share);
}

}  // namespace etalon::cuda
