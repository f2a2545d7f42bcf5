/// \file
/// One step after another of an operation that carries state. It asks nobody.
#pragma once

#include <vector>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// The next step's operands: the state among these outputs, the next count, other gradients.
void advance(Case& c, const std::vector<HostTensor>& outputs);

}  // namespace etalon::conformance
