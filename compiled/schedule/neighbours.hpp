/// \file
/// Decisions beside one that was taken, for a search. It measures nothing.
#pragma once

#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// Other lines about the same value: other numbers, other layouts, the switch the other way. Not each of them can be; whoever
/// compiles with one is told.
/// \param all the decisions beside it: the kernels that an equation might join
/// \param reorder_sums also those that may add terms in another order
[[nodiscard]] std::vector<DecisionLine> neighbours(const DecisionLine& line, const Machine& machine, const std::vector<DecisionLine>& all,
                                                   bool reorder_sums);

/// The decisions with this one among them, in place of one about the same, and without those that followed from that.
[[nodiscard]] std::vector<DecisionLine> with_decision(std::vector<DecisionLine> decisions, const DecisionLine& line);

}  // namespace etalon::compiled
