#include <algorithm>
#include <iterator>
#include <variant>
#include <vector>

#include "compiled/ir/accesses.hpp"
#include "cuda/cuda_file.hpp"

namespace etalon::cuda {

using compiled::loops::Access;
using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Step;
using compiled::source::ProgramText;
using spec::Expr;
using spec::TensorId;

namespace {

constexpr std::int64_t threads_per_block = 256;
constexpr std::int64_t most_blocks = 65535;

bool is_variable(const Expr& e, spec::VariableId v) { return e.form() == spec::Form::variable && e->variable == v; }

/// Whether different values of the variable touch different elements of what is written: on one axis of each of these tensors, the
/// variable is the index of every access.
bool is_independent(const ProgramText& program, const Nest& nest, const std::vector<Access>& all, spec::VariableId v) {
  const auto is_own = [&](TensorId t) {
    return std::any_of(nest.own.begin(), nest.own.end(), [&](const auto& own) { return own.tensor == t; });
  };
  for (const Access& write : all) {
    if (!write.write || is_own(write.tensor)) continue;
    const auto shares = [&](const Access& a) {
      return a.tensor == write.tensor || program.overlaps(a.tensor, std::vector<TensorId>{write.tensor});
    };
    const Dims& dims = program.lowered().system[write.tensor].dims;
    bool found = false;
    for (std::size_t axis = 0; axis < write.place.size() && !found; ++axis) {
      found = std::all_of(all.begin(), all.end(), [&](const Access& a) {
        if (!shares(a)) return true;
        return program.lowered().system[a.tensor].dims == dims && is_variable(a.place[axis], v);
      });
    }
    if (!found) return false;
  }
  return true;
}

bool fills_register(const Step& s) {
  return std::holds_alternative<compiled::loops::Reduce>(s.is) || std::holds_alternative<compiled::loops::Define>(s.is);
}

}  // namespace

Grid grid_of(const ProgramText& program, const Nest& nest) {
  Grid grid;
  std::vector<Access> all;
  for (const Step& s : nest.steps) std::ranges::move(compiled::loops::accesses_of(s).elements, std::back_inserter(all));
  const std::vector<Step>* steps = &nest.steps;
  while (!steps->empty() && std::holds_alternative<Loop>(steps->back().is)) {
    // Threads do for themselves what stands before the outermost loop; further in, a loop is alone.
    const bool outermost = grid.loops == 0;
    if (outermost ? !std::all_of(steps->begin(), steps->end() - 1, fills_register) : steps->size() != 1) break;
    const Loop& loop = std::get<Loop>(steps->back().is);
    if (!(outermost && nest.parallel) && !is_independent(program, nest, all, loop.binder.variable)) break;
    ++grid.loops;
    grid.elements *= loop.binder.extent;
    steps = &loop.steps;
  }
  if (grid.loops == 0) return grid;
  grid.threads = threads_per_block;
  grid.blocks = std::clamp<std::int64_t>((grid.elements + threads_per_block - 1) / threads_per_block, 1, most_blocks);
  return grid;
}

}  // namespace etalon::cuda
