/// \file
/// Operations that level off: where an exponential or its like is taken of products of operands, wide numbers in all
/// operands only ever show the flat ends, where an error bound says little of a derivative that is nearly 0.
#pragma once

#include <vector>

#include "conformance/values.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// Whether the system takes exp, expm1, tanh or erf of something that products of real operands entered.
[[nodiscard]] bool saturates(const spec::System& system);

/// Lets most cases have wide numbers in one operand at most, and narrow ones beside it, so that products of them stay
/// moderate. The other cases stay as they are: flat ends must hold too.
void temper(std::vector<Family>& families, Draw& draw);

}  // namespace etalon::conformance
