/// \file
/// A plan within a given number of bytes: first the kernels are ordered for memory, then values that are idle when most is
/// live are computed again where they are needed next. The cost model is decision 0024. It changes no bit of any output.
#pragma once

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Changes system and plan until the arena takes no more than `options.memory_budget` bytes; does nothing without a budget or
/// where it fits already. The kernels' lanes must be pinned (loops::pin_lanes). Equations that compute a value again stand at the system's end; afterwards the
/// system's equations stand in the order of the kernels.
/// \throws SpecViolation naming the budget and the least number of bytes that was reached.
void fit_budget(spec::System& system, const PlanOptions& options, Plan& plan);

}  // namespace etalon::compiled
