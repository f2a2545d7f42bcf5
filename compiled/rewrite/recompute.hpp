/// \file
/// Cheap values that later kernels compute again, where storing and reading them would cost more than the operand does.
#pragma once

#include <vector>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Substitutes a tensor that a plan keeps in the arena for later kernels by the expression that it is: elementwise, of a
/// few operations, of one operand of its size and small ones, and read by no scheduled contraction. Every number keeps
/// its bits: what would be computed in another type by one of its readers stays a tensor. What nobody reads any more goes.
/// \param decisions one per equation, or none where nothing was scheduled; kept in step with the system.
/// \returns whether there was any; then the system is to be planned anew.
bool recompute_cheap(spec::System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding);

}  // namespace etalon::compiled
