/// \file
/// The logistic function by its complement.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// 1 - e^-z/(1 + e^-z) in place of 1/(1 + e^-z) where a condition has it that z is not negative: elsewhere it would cancel.
/// Source: oneDNN's logistic, which computes one side and subtracts from 1 for the other.
[[nodiscard]] std::optional<spec::System> with_complements(const spec::System& system);

}  // namespace etalon::conformance
