/// \file
/// Smaller programs that ask the same of what is left. It asks nobody.
#pragma once

#include <vector>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// The program case without one of its outputs and what only that needed, and with the results of one call as inputs.
[[nodiscard]] std::vector<Case> smaller_programs(const Case& c);

}  // namespace etalon::conformance
