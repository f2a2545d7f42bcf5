#include "compiled/plan/plan.hpp"

#include "compiled/plan/stages.hpp"

namespace etalon::compiled {

Plan plan(const spec::System& system, const PlanOptions& options) {
  Plan result;
  result.kernels = fuse(system, options);
  assign_homes(system, options, result);
  return result;
}

}  // namespace etalon::compiled
