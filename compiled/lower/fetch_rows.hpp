/// \file
/// Rows that come next are fetched while the one at hand is worked on.
#pragma once

#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled::loops {

/// Where a loop over rows visits a row several times, each in a loop in lanes of its own, the memory of the next row would be
/// asked for only when its turn comes, and the processor sees no stream in that. So the first visit of a tensor's row also
/// fetches the same place of its next row, or, where another loop over the row computes much for each element, that loop, which
/// has the time: of tensors in rows of some lines. Each is a decision, `fetch`, which cost makes where the tensor is larger
/// than the second cache.
/// \throws SpecViolation for a given decision that cannot be; InternalError as `verify`.
void fetch_rows(const spec::System& system, const Plan& plan, const Machine& machine, std::vector<Nest>& nests, Deciding& deciding);

}  // namespace etalon::compiled::loops
