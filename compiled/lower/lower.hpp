/// \file
/// From equations and a plan to loops: orders loops, chooses lanes, places each reduction in the outermost loop that it
/// depends on. It knows no machine but the number of lanes.
#pragma once

#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled::loops {

/// The kernels of the plan as loops, in order. Kernels over nothing are left out.
/// \param deciding which loops run in lanes
/// \throws SpecViolation for lanes that are given and cannot be.
[[nodiscard]] std::vector<Nest> lower(const spec::System& system, const Plan& plan, const Machine& machine, const ScheduleOptions& options,
                                      Deciding& deciding);

/// Fixes in the kernels which of their loops run in lanes, so that kernels may change places and statements without any
/// sum's changing its order.
void pin_lanes(const spec::System& system, Plan& plan, const Machine& machine);

}  // namespace etalon::compiled::loops
