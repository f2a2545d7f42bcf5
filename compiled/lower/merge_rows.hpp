/// \file
/// Loops over one row that follow each other become one loop.
#pragma once

#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled::loops {

/// Side by side in a loop over rows stand loops in lanes: reductions over a row, and loops that write a row. One that writes
/// moves into another of them, so that what both visit passes through registers once: y[k] is stored and added up in one turn.
///
/// The rule. The two have the same extent, and the host's vectors are no narrower than the guest's and at most four times as
/// wide; a guest that computes functions has at most an eighth more lanes there, idle behind the end of the row. They visit
/// elements in common, at the same place for the same lane; of several hosts the one with the most reads and operations in
/// common is taken, then the nearest. On its way to the host the guest passes no step that writes what it touches, reads what
/// it writes, or fills a register that it reads. What one of the two writes and the other touches is the very element at hand.
/// The loop that results visits at most eight tensors, so that each has its way in the nearest cache.
///
/// No bit changes: the host keeps its lanes, its width and its order; the guest's elements are computed one by one as before.
/// Tensors that share memory in the plan count as conflicts whatever elements they touch. The loop says what it was made of
/// (Loop::merged).
/// \throws InternalError as `verify`.
void merge_rows(const spec::System& system, const Plan& plan, Nest& nest);

}  // namespace etalon::compiled::loops
