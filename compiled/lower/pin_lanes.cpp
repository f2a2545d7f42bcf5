// Which loops of a kernel with several statements run in lanes, decided once for all of them.
#include <algorithm>

#include "compiled/lower/lower.hpp"
#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

using spec::Equation;

PinnedLanes Lowering::lanes_of(const Kernel& kernel) {
  PinnedLanes lanes;
  VectorWidth vectors{machine_.lanes_f32};
  std::vector<Assignment> assignments;
  share(kernel);
  for (const Statement& s : kernel.statements) {
    if (s.in_passing) {
      lanes.each_its_own = true;
      continue;
    }
    const Equation e = aligned(kernel, s);
    lanes.each_its_own = lanes.each_its_own || e.binders.size() > kernel.loops.size();
    const VectorWidth of_this = vectors_for(e);
    vectors = {std::min(vectors.machine, of_this.machine), std::min(vectors.order, of_this.order)};
    const bool held = plan_.residences[static_cast<std::size_t>(e.target)].home == Home::in_register;
    assignments.push_back({e.target, held ? std::vector<Expr>{} : e.place, e.value});
  }
  if (lanes.each_its_own) return lanes;
  std::vector<Candidate> candidates;
  for (const Binder& b : shared_) candidates.push_back({b, nullptr});
  for (const Assignment& a : assignments) collect_reduction_candidates(a.value, candidates);
  const LaneChoice choice = choose_lanes(system_, assignments, candidates, vectors);
  const auto loop = std::find_if(shared_.begin(), shared_.end(), [&](const Binder& b) { return b.variable == choice.variable; });
  if (loop != shared_.end()) lanes.loop = static_cast<std::size_t>(loop - shared_.begin());
  else lanes.reduction = choice.variable;
  lanes.width = choice.width;
  return lanes;
}

void pin_lanes(const spec::System& system, Plan& plan, const Machine& machine) {
  Register next = system.next_variable;
  Deciding by_cost;
  LaneDecisions decisions(system, machine, true, by_cost);
  for (Kernel& kernel : plan.kernels) {
    if (kernel.kind != KernelKind::loops || kernel.schedule || kernel.lanes || kernel.statements.size() < 2) continue;
    kernel.lanes = Lowering(system, plan, machine, decisions, next).lanes_of(kernel);
  }
}

}  // namespace etalon::compiled::loops
