/// \file
/// The class of an operation's equations by their form: what decides how errors arise and what a bound costs.
#pragma once

#include <string>

#include "spec/system/system.hpp"

namespace etalon::power {

/// `movement`, `elementwise`, `functions`, `sums`, `extrema` or `functions and sums`.
[[nodiscard]] std::string class_of(const spec::System& system);

}  // namespace etalon::power
