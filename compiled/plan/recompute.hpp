/// \file
/// Cheap values that later kernels compute again, where storing and reading them would cost more than the operand does.
#pragma once

#include <span>

#include "compiled/plan/plan.hpp"

namespace etalon::compiled {

/// Substitutes a tensor that a plan keeps in the arena for later kernels by the expression that it is: elementwise, of a
/// few operations, of one operand of its size and small ones, and read by no scheduled contraction. Every number keeps
/// its bits. \returns whether there was any; then the system is to be planned anew.
bool recompute_cheap(spec::System& system, const Plan& plan, std::span<const Decision> decisions);

}  // namespace etalon::compiled
