/// \file
/// The scalar primitives of equations as instructions of StableHLO, on tensors of one shape. It knows no index
/// variable.
#pragma once

#include <span>

#include "conformance/interchange/stablehlo/instructions.hpp"
#include "spec/scalar.hpp"

namespace etalon::conformance::stablehlo {

/// A scalar repeated over the extents of a tensor.
[[nodiscard]] Tensor like(Instructions& out, const Tensor& scalar, const Tensor& tensor);

/// The primitive on operands of the same extents; reals of f32 or f64, integers of i64.
/// \param real the type of reals that it makes
/// \throws Unsupported for a primitive that has no instructions
[[nodiscard]] Tensor primitive(Instructions& out, spec::Primitive primitive, std::span<const Tensor> operands,
                               DType real);

/// The numbers as elements of another type, as an equation's value becomes that of its target: integers wrap; reals are
/// rounded, or as integers cut off and kept within the type, NaN as 0.
[[nodiscard]] Tensor stored(Instructions& out, const Tensor& value, DType dtype);

}  // namespace etalon::conformance::stablehlo
