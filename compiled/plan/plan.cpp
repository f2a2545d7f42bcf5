#include "compiled/plan/plan.hpp"

#include "compiled/plan/stages.hpp"

namespace etalon::compiled {

Plan plan(const spec::System& system, const PlanOptions& options, std::span<const Decision> decisions) {
  Plan result;
  result.kernels = fuse(system, options, decisions);
  assign_homes(system, options, result);
  return result;
}

}  // namespace etalon::compiled
