#include <algorithm>
#include <variant>
#include <vector>

#include "compiled/emit/text/nests.hpp"
#include "cuda/cuda_file.hpp"

namespace etalon::cuda {

using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Step;
using compiled::source::ProgramText;
using spec::Expr;
using spec::TensorId;

namespace {

constexpr std::int64_t threads_per_block = 256;
constexpr std::int64_t most_blocks = 65535;

/// An element that a kernel touches.
struct Access {
  TensorId tensor = -1;
  std::vector<Expr> place;
  bool written = false;
};

/// Every element that a kernel touches.
class Accesses {
 public:
  explicit Accesses(const Nest& nest) { steps(nest.steps); }
  std::vector<Access> all;

 private:
  void reads(const Expr& e) {
    if (!e.valid()) return;
    spec::for_each(e, [&](const Expr& x) {
      if (x.form() == spec::Form::read) all.push_back({x->tensor, x->args, false});
    });
  }
  void steps(const std::vector<Step>& each) {
    for (const Step& s : each) std::visit([&](const auto& one) { step(one); }, s.is);
  }
  void step(const Loop& loop) { steps(loop.steps); }
  void step(const compiled::loops::Reduce& r) {
    for (const Expr* e : {&r.reached, &r.guard, &r.body, &r.otherwise}) reads(*e);
    for (const Loop& loop : r.loops) steps(loop.steps);
  }
  void step(const compiled::loops::Store& s) {
    for (const Expr& p : s.place) reads(p);
    reads(s.value);
    reads(s.guard);
    all.push_back({s.tensor, s.place, true});
  }
  void step(const compiled::loops::Define& d) { reads(d.value); }
  void step(const compiled::loops::Contract&) {}
  void step(const compiled::loops::Transpose&) {}
};

bool is_variable(const Expr& e, spec::VariableId v) { return e.form() == spec::Form::variable && e->variable == v; }

/// Whether different values of the variable touch different elements of what is written: on one axis of each of these tensors, the
/// variable is the index of every access.
bool is_independent(const ProgramText& program, const Nest& nest, const std::vector<Access>& all, spec::VariableId v) {
  const auto is_own = [&](TensorId t) {
    return std::any_of(nest.own.begin(), nest.own.end(), [&](const auto& own) { return own.tensor == t; });
  };
  for (const Access& write : all) {
    if (!write.written || is_own(write.tensor)) continue;
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
  const std::vector<Access> all = Accesses(nest).all;
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
