/// \file
/// How much the code generator tries: of kernels that are done in microseconds the passes cost more than they ever give
/// back. Which instructions compute a number does not change, only their order and how addresses are counted.
#pragma once

#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled {

enum class Effort {
  full,
  hasty,  ///< without the passes that order instructions, rewrite how loops count and look for shorter ways to say the same
};

/// Hasty where all of the kernels together do little and none is a contraction: tiles of registers want their order.
[[nodiscard]] Effort effort_for(const std::vector<loops::Nest>& nests);

}  // namespace etalon::compiled
