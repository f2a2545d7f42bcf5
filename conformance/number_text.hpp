/// \file
/// Numbers in decimal digits that tell apart what is compared. It judges nothing.
#pragma once

#include <optional>
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

/// How far a number of the type is from the exact value, in units of the exact value's last place: nothing where one of
/// them is no number or the type is not real.
[[nodiscard]] std::optional<double> ulps(double got, double exact, DType dtype);

/// `1.3`, `17`, `2.4e+06`: a distance.
[[nodiscard]] std::string distance_text(double distance);

}  // namespace etalon::conformance
