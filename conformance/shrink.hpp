/// \file
/// Makes a failing case small: fewer and smaller axes, attributes at their defaults, values that are small integers.
#pragma once

#include "conformance/check.hpp"

namespace etalon::conformance {

/// What may be spent on one counterexample; whatever ends first.
struct ShrinkBudget {
  std::size_t attempts = 400;  ///< cases asked
  double seconds = 30;
};

struct Shrunk {
  Case smallest;
  Outcome outcome;
  std::size_t attempts = 0;
  bool cut_short = false;  ///< the budget ended first: there may be a smaller one
};

/// A case that fails in the same way (failure_class.hpp) and that no step of the search makes smaller, or the best one
/// found within the budget. Unless seconds ran out the result depends on the case and the backend's answers only.
[[nodiscard]] Shrunk shrink(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
                            const ShrinkBudget& budget);

}  // namespace etalon::conformance
