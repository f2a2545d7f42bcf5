/// \file
/// Requests answered: every element correctly rounded, computed with as many bits as it takes.
#pragma once

#include "spec/backend.hpp"

namespace etalon::reference {

/// All numbers that the request asks for, each the value of the equations' real number nearest to it, ties to even.
/// \throws SpecViolation naming what is wrong with the request; Unsupported naming the element that even the highest
/// precision leaves open
[[nodiscard]] spec::Numbers correctly_rounded(const spec::Request& request);

}  // namespace etalon::reference
