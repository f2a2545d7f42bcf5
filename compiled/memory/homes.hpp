/// \file
/// Where each value of a planned system lives. It knows which equations share loops and does not decide it.
#pragma once

#include <span>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Fills residences, commits and the arena's size for the plan's kernels.
void assign_homes(const spec::System& system, const PlanOptions& options, Plan& plan);

/// Plans an optimised system: outputs are distinct and none is an input.
/// \param decisions one per equation, or none: then no contraction is scheduled.
/// \param deciding what is given of kernels, if anything
/// \throws InternalError otherwise.
[[nodiscard]] Plan plan(const spec::System& system, const PlanOptions& options = {}, std::span<const Decision> decisions = {},
                        const Deciding* deciding = nullptr);

}  // namespace etalon::compiled
