/// \file
/// Rounding of any number type to an element type's format. It knows no number type.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/contract/contract.hpp"

namespace etalon::reference {

/// The value of the format nearest to `v`, ties to even, overflow to infinity, gradual underflow. V says is_nan, is_inf,
/// is_zero, is_negative (of zeros too), exponent (floor(log2 |v|)), and rounded_quotient(q): v / 2^q to an integer.
template <class V>
[[nodiscard]] double nearest(const V& v, const spec::Format& format) {
  if (v.is_nan()) return std::numeric_limits<double>::quiet_NaN();
  const double sign = v.is_negative() ? -1.0 : 1.0;
  const double infinity = sign * std::numeric_limits<double>::infinity();
  if (v.is_inf()) return infinity;
  if (v.is_zero()) return sign * 0.0;
  const std::int64_t exponent = v.exponent();
  // Beyond the next binade nothing rounds back into range, and scaling could overflow.
  if (exponent > format.emax) return infinity;
  if (exponent < format.emin - format.precision - 1) return sign * 0.0;
  const int quantum = std::max(static_cast<int>(exponent), format.emin) - (format.precision - 1);
  const double q = std::fabs(v.rounded_quotient(quantum));
  if (q >= std::ldexp(1.0, format.precision) && quantum + format.precision > format.emax) return infinity;
  return sign * std::ldexp(q, quantum);
}

}  // namespace etalon::reference
