/// \file
/// How near to 0 a number can be that is not 0: differences of numbers with few bits leave gaps. It knows forms, and no operation.
#pragma once

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// What the magnitude of the expression is at least wherever it is not 0, whatever the inputs are; 0 where nothing is known.
[[nodiscard]] double least_unless_zero(const spec::System& system, const spec::Expr& e);
/// The same of each element of a tensor.
[[nodiscard]] double least_unless_zero(const spec::System& system, spec::TensorId tensor);

}  // namespace etalon::adequacy
