/// \file
/// Numbers in decimal digits that tell apart what is compared. It judges nothing.
#pragma once

#include <string>
#include <utility>

#include "spec/dtype.hpp"

namespace etalon::conformance {

/// The fewest digits that read back as this element of the type; `nan`, `inf` and `-inf` for what is no number.
[[nodiscard]] std::string shortest(double value, DType dtype = DType::f64);

/// What was got, and the interval in which it was expected.
struct Compared {
  std::string lower, upper, got;
};

/// Digits that read back on the same side of each other as the numbers are: an end that `got` misses never looks like
/// `got`, and two ends that differ never look alike.
[[nodiscard]] Compared told_apart(double lower, double upper, double got, DType dtype);

/// Two numbers with digits that differ where the numbers do.
[[nodiscard]] std::pair<std::string, std::string> told_apart(double a, double b);

}  // namespace etalon::conformance
