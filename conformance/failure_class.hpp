/// \file
/// What kind of failure an outcome is: a smaller case must fail in the same way to stand for the first one. It knows no
/// operation and no backend.
#pragma once

#include <string>

#include "conformance/check.hpp"

namespace etalon::conformance {

/// Equal for failures of one kind: the verdict; of a wrong element whether a number, NaN or an infinity was got, where
/// what was expected, and in a value, a tangent or a cotangent; of everything else the words of its reason, without the
/// numbers among them.
[[nodiscard]] std::string failure_class(const Outcome& outcome);

}  // namespace etalon::conformance
