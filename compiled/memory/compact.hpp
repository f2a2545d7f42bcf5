/// \file
/// Places in the arena for tensors whose lives are all known: one after the other, each as low as it fits, in the best of
/// several orders. Tighter than places that are given and taken in the order of the kernels. It changes no home and no order.
#pragma once

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Gives every tensor of the arena a new place where all of them together then take fewer bytes; else leaves them where they
/// are. Tensors that share one place keep sharing it.
void compact_arena(const spec::System& system, const PlanOptions& options, Plan& plan);

}  // namespace etalon::compiled
