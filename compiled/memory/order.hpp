/// \file
/// Kernels in an order that needs less memory. It computes nothing twice and changes no number.
#pragma once

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Makes kernels of the parts of kernels that do not need each other, so that each part can run when its time has come.
/// Kernels of several statements must have their lanes pinned (loops::pin_lanes).
void split_parts(const spec::System& system, Plan& plan);

/// Moves kernels ahead that need nothing later and after which less is live, such as those of a weight's gradient and
/// its update. An update in place stays behind what reads the old value. The plan's homes are those of another order and must be
/// assigned anew.
void order_for_memory(const spec::System& system, const PlanOptions& options, Plan& plan);

}  // namespace etalon::compiled
