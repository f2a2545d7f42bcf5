/// \file
/// What a failure teaches beside its interval: the exact value, and the cause among those that are known, tried on the
/// case. It convicts nobody, and knows no operation by name.
#pragma once

#include <optional>
#include <string>

#include "conformance/check.hpp"

namespace etalon::conformance {

struct Lesson {
  std::optional<double> exact;  ///< of the element that convicts: what the equations mean, rounded to a double
  std::string cause;  ///< one line that explains the whole tensor, or which side of a law is wrong; empty for none
};

/// Asks the backend once more, and of the adjoint law each side alone. \param outcome a failure of the case
[[nodiscard]] Lesson lesson_of(const Case& c, const Outcome& outcome, Asked& backend, const spec::Contract& contract);

}  // namespace etalon::conformance
