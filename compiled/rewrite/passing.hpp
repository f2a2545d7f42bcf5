/// \file
/// Sums over rows that another kernel visits anyway: each row adds its terms in passing, while it is near.
#pragma once

#include <vector>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// y[k…] = sum[i…] f becomes part[p, k…] = sum[r…] f, over stretches of the outermost loop of the sum, and y[k…] = the sum
/// of all parts, written out as a balanced tree, where a kernel of the plan runs over the rows i… and reads or computes
/// what f reads of them. The equation of the parts is decided to be added up in that kernel. A stretch has no more
/// terms than a block of terms (depth.hpp), so that the way of a term through the sum is no longer than before.
/// Equations that are part of a recurrence stay as they are.
/// \param decisions one per equation, or none where nothing was scheduled; kept in step with the system.
/// \returns whether there was any; then the system is to be planned anew.
bool add_in_passing(spec::System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding);

}  // namespace etalon::compiled
