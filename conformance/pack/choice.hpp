/// \file
/// Which of the suite's cases a pack has: those that meet something new, one after the other. It bounds nothing.
#pragma once

#include <vector>

#include "conformance/conform.hpp"
#include "conformance/plan.hpp"

namespace etalon::conformance {

/// The units of a run that a pack is drawn from: single calls on dense tensors, whose answers can be judged one by one.
[[nodiscard]] std::vector<Unit> packed_units(const ConformOptions& options);

/// Of a unit's cases the small ones that meet most classes, attributes and shapes which those before them have not met, in
/// order of their indices. Which they are depends on the options' seed, tier and library alone.
[[nodiscard]] std::vector<Case> chosen_cases(const Unit& unit, const ConformOptions& options);

}  // namespace etalon::conformance
