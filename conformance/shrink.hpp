/// \file
/// Makes a failing case small: fewer and smaller axes, attributes at their defaults, values that are small integers.
#pragma once

#include "conformance/check.hpp"

namespace etalon::conformance {

struct Shrunk {
  Case smallest;
  Outcome outcome;
  std::size_t attempts = 0;
};

/// A case that still fails and that no step of the search makes smaller, or the best one after `attempts` requests.
/// The result depends on the case and the backend's answers only.
[[nodiscard]] Shrunk shrink(const Case& failing, const Outcome& outcome, Asked& backend, const spec::Contract& contract,
                            std::size_t attempts);

}  // namespace etalon::conformance
