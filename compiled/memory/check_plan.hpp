/// \file
/// Whether a plan does what its system says, found out without any of the code that makes plans.
#pragma once

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Checks a plan by executing it abstractly, sharing no code with `plan`: every equation runs once and after what it
/// reads, every read finds the tensor it names still in its bytes, registers never leave their kernel, nothing
/// sticks out of the arena, every output and update is there at the end.
/// \throws InternalError naming kernel, equation, tensors and bytes.
void check_plan(const spec::System& system, const Plan& plan, const PlanOptions& options = {});

}  // namespace etalon::compiled
