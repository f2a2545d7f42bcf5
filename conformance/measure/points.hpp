/// \file
/// Where functions are measured: operands dense in the logarithm of their size, in the ranges where results are
/// ordinary, and near the places where libraries are known to err. It knows no function's definition.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/dtype.hpp"
#include "spec/scalar.hpp"

namespace etalon::conformance {

/// Operands, column by column; every entry is a number of the element type.
using Columns = std::vector<std::vector<double>>;

/// `count` points at least for a primitive of one or two operands; the same seed gives the same points.
[[nodiscard]] Columns sample_points(spec::Primitive p, DType dtype, std::size_t count, std::uint64_t seed);

/// `count` points near the ends of the operands for which a function of one operand is finite and normal; none where it
/// always is, or has two operands.
[[nodiscard]] Columns points_at_edges(spec::Primitive p, DType dtype, std::size_t count, std::uint64_t seed);

/// `count` points around one.
[[nodiscard]] Columns points_near(std::span<const double> place, DType dtype, std::size_t count, std::uint64_t seed);

}  // namespace etalon::conformance
