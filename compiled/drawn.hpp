/// \file
/// Decisions drawn at random among those that can be, so that whoever holds a program to its meaning holds all schedules that
/// a search might find. It measures nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiled/compile.hpp"

namespace etalon::compiled {

struct Drawing {
  std::uint64_t seed = 1;
  std::size_t changes = 6;    ///< tries: each changes one decision to one beside it, and is left out where that cannot be
  bool reorder_sums = false;  ///< also decisions that may add terms in another order
};

/// Those of the options, and some that differ from what costs decide about this system; with the same seed the same. What was
/// left out was refused with a SpecViolation.
/// \throws SpecViolation for a system that does not compile.
/// \throws InternalError as `run`: a decision that can be taken and leaves something ill-formed is a fault.
[[nodiscard]] std::vector<DecisionLine> drawn_decisions(const spec::System& system, const CompileOptions& options, const Machine& machine,
                                                        const Drawing& drawing);

}  // namespace etalon::compiled
