/// \file
/// Ends of an interval of reals as the outermost finite numbers of an element type inside it. It knows no tensor.
#pragma once

#include "spec/dtype.hpp"

namespace etalon::conformance {

/// The least number of the type that is not below `x`; infinite where there is no finite one.
[[nodiscard]] double least_inside(double x, DType dtype);
/// The greatest number of the type that is not above `x`; infinite where there is no finite one.
[[nodiscard]] double greatest_inside(double x, DType dtype);

}  // namespace etalon::conformance
