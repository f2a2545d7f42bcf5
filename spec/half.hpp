/// \file
/// The 16-bit element types on the host: their bits as numbers and back. Arithmetic is never done in them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/contract/contract.hpp"
#include "spec/dtype.hpp"

namespace etalon::spec {

/// Whether elements have 16 bits in memory and f32's arithmetic.
[[nodiscard]] constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// The number that the bits of an f16 or bf16 stand for; exact.
[[nodiscard]] inline double half_value(std::uint16_t bits, DType dtype) {
  const Format f = format_of(dtype);
  const unsigned fraction_bits = static_cast<unsigned>(f.precision - 1);
  const unsigned field = (bits & 0x7fffU) >> fraction_bits;
  const unsigned fraction = bits & ((1U << fraction_bits) - 1U);
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (field == static_cast<unsigned>(2 * f.emax + 1)) {
    return sign * (fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
  }
  const unsigned digits = field == 0 ? fraction : fraction | (1U << fraction_bits);
  const int exponent = (field == 0 ? f.emin : static_cast<int>(field) - f.emax) - (f.precision - 1);
  return sign * std::ldexp(static_cast<double>(digits), exponent);
}

/// The bits of the nearest f16 or bf16, ties to even, overflow to infinity, gradual underflow; NaN is quiet.
[[nodiscard]] inline std::uint16_t nearest_half(double value, DType dtype) {
  const Format f = format_of(dtype);
  const unsigned fraction_bits = static_cast<unsigned>(f.precision - 1);
  const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
  const unsigned infinity = static_cast<unsigned>(2 * f.emax + 1) << fraction_bits;
  const auto bits = [&](unsigned size) { return static_cast<std::uint16_t>(sign | size); };
  if (std::isnan(value)) return bits(infinity | (1U << (fraction_bits - 1U)));
  const double size = std::fabs(value);
  if (size == 0) return bits(0);
  if (size >= std::ldexp(1.0, f.emax + 1)) return bits(infinity);
  const int exponent = std::max(std::ilogb(size), f.emin);
  const double digits = std::nearbyint(std::ldexp(size, f.precision - 1 - exponent));
  // The hidden bit of a normal number, or a carry out of its digits, adds one to the exponent field.
  return bits((static_cast<unsigned>(exponent - f.emin) << fraction_bits) + static_cast<unsigned>(digits));
}

}  // namespace etalon::spec
