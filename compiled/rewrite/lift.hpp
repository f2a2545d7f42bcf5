/// \file
/// Long sums whose factors are read many times over: the outermost loop of the sum becomes a loop outside of it.
#pragma once

#include "compiled/ir/schedule.hpp"

namespace etalon::compiled {

/// y[…] = sum[n, rest…] left·right becomes part[n, …] = sum[rest…] left·right and y[…] = the sum of all part[n, …], written
/// out as a balanced tree, where
/// - loops outside of tiles would read both factors again, and they do not fit the second cache together,
/// - both know n, so that each part reads a piece of its own, and the parts are no larger than the factors,
/// - the tree of all terms is no higher than the contract of the backend declares.
/// What one part reads is small enough to stay near, and parts are shared among threads. Equations that are part of a
/// recurrence stay as they are.
void lift_sums(spec::System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding);

}  // namespace etalon::compiled
