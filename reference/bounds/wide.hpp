/// \file
/// The reference's number types for error analysis: double for f32 systems, 113 bits for f64. Each has at least
/// twice the precision of what it judges, so its own rounding is 2^-28 of any bound. It knows no bounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/scalar.hpp"
#include "spec/system/number.hpp"

namespace etalon::reference::bounds {

__extension__ typedef __float128 Quad;
__extension__ typedef unsigned __int128 QuadBits;

/// A quantum that every number is a multiple of would be -infinity; this stands for "not known".
inline constexpr std::int32_t no_quantum = -(1 << 28);
/// Zero is a multiple of everything.
inline constexpr std::int32_t zero_quantum = 1 << 20;

/// The exponent of the lowest set bit.
[[nodiscard]] inline std::int32_t lowest_bit(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t mantissa = bits & 0xFFFFFFFFFFFFFULL;
  const auto exponent = static_cast<std::int32_t>((bits >> 52U) & 0x7FFU);
  if (exponent == 0) return mantissa == 0 ? zero_quantum : std::countr_zero(mantissa) - 1074;
  return std::countr_zero(mantissa | (1ULL << 52U)) + exponent - 1075;
}

[[nodiscard]] inline std::int32_t lowest_bit(Quad x) {
  const auto bits = std::bit_cast<QuadBits>(x);
  const auto exponent = static_cast<std::int32_t>(static_cast<std::uint64_t>(bits >> 112U) & 0x7FFFU);
  const auto low = static_cast<std::uint64_t>(bits);
  if (exponent == 0) return x == 0 ? zero_quantum : no_quantum;
  if (low != 0) return std::countr_zero(low) + exponent - 16495;
  const auto high = static_cast<std::uint64_t>(bits >> 64U) & 0xFFFFFFFFFFFFULL;
  return std::countr_zero(high | (1ULL << 48U)) + 64 + exponent - 16495;
}

/// The largest power of two not above |x|; 0 for subnormal doubles and zero.
[[nodiscard]] inline double power_below(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000ULL);
}

/// The neighbours of a double; infinities and NaN stay.
[[nodiscard]] inline double up(double x) {
  if (!(std::fabs(x) <= std::numeric_limits<double>::max())) {
    return x == -std::numeric_limits<double>::infinity() ? -std::numeric_limits<double>::max() : x;
  }
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(x > 0 ? bits + 1 : bits - 1);
}
[[nodiscard]] inline double down(double x) { return -up(-x); }

template <class R>
struct Wide;

template <>
struct Wide<double> {
  static constexpr int precision = 53;
  [[nodiscard]] static double evaluate(spec::Primitive p, double x, double y = 0);
  /// The doubles next to x on either side, or x itself when it is one.
  [[nodiscard]] static double below(double x) { return x; }
  [[nodiscard]] static double above(double x) { return x; }
  [[nodiscard]] static double scale(double x, int exponent) { return std::ldexp(x, exponent); }
};

template <>
struct Wide<Quad> {
  static constexpr int precision = 113;
  [[nodiscard]] static Quad evaluate(spec::Primitive p, Quad x, Quad y = 0);
  [[nodiscard]] static double below(Quad x) {
    const auto d = static_cast<double>(x);
    return static_cast<Quad>(d) > x ? down(d) : d;
  }
  [[nodiscard]] static double above(Quad x) {
    const auto d = static_cast<double>(x);
    return static_cast<Quad>(d) < x ? up(d) : d;
  }
  [[nodiscard]] static Quad scale(Quad x, int exponent);
};

/// A decimal constant, rounded to the type.
template <class R>
[[nodiscard]] R from_decimal(const spec::Number& decimal);
template <>
double from_decimal<double>(const spec::Number& decimal);
template <>
Quad from_decimal<Quad>(const spec::Number& decimal);

}  // namespace etalon::reference::bounds
