/// \file
/// The reference's number types for error analysis: double for f32 systems, 113 bits for f64, and what each operation on
/// them loses, so that a reference is no more trusted than a backend; and the functions between neighbouring doubles, from
/// MPFR, which rounds each correctly to either side. It knows no bounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/bounds/interval.hpp"
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

/// A number that stands for a real one, how far that may be from it, and between which doubles it lies.
template <class R>
struct Nearly {
  R value = 0;
  double error = 0;
  Interval box;
};

/// The function's value at x (and y) between doubles, the ends next to each other or equal: [NaN, NaN] where it has none.
[[nodiscard]] Interval enclose(spec::Primitive p, double x, double y = 0);

template <class R>
struct Wide;

template <>
struct Wide<double> {
  static constexpr int precision = 53;
  /// By the C library: right to an ulp or two, which is proved nowhere.
  [[nodiscard]] static double evaluate(spec::Primitive p, double x, double y = 0);
  [[nodiscard]] static Nearly<double> nearly(spec::Primitive p, double x, double y = 0);
  /// The doubles next to x on either side, or x itself when it is one.
  [[nodiscard]] static Interval around(double x) { return just(x); }
  [[nodiscard]] static double scale(double x, int exponent) { return std::ldexp(x, exponent); }
  /// Whether a · b is c, for numbers of a format that is not wider; where underflow leaves that open, no.
  [[nodiscard]] static bool is_product(double a, double b, double c) {
    if (a == 0 || b == 0) return c == 0;
    return has_exact_error(c) && std::fma(a, b, -c) == 0;
  }
  [[nodiscard]] static bool is_integer(double x, std::int64_t n) { return static_cast<Quad>(x) == static_cast<Quad>(n); }
  /// What rounding one result to the type loses at most, where nothing underflows.
  [[nodiscard]] static double rounding_of(double x) { return mul_up(std::fabs(x), unit); }
  static constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
};

template <>
struct Wide<Quad> {
  static constexpr int precision = 113;
  /// By MPFR, rounded twice: right to an ulp.
  [[nodiscard]] static Quad evaluate(spec::Primitive p, Quad x, Quad y = 0);
  [[nodiscard]] static Nearly<Quad> nearly(spec::Primitive p, Quad x, Quad y = 0);
  [[nodiscard]] static Interval around(Quad x) {
    const auto bits = std::bit_cast<QuadBits>(x);
    const auto exponent = static_cast<int>(static_cast<std::uint64_t>(bits >> 112U) & 0x7FFFU) - 16383;
    if (exponent < -1022 || exponent > 1023) return around_any(x);
    // What a double has room for of the significand is the end nearer to zero.
    const std::uint64_t inner = static_cast<std::uint64_t>(exponent + 1023) << 52U | (static_cast<std::uint64_t>(bits >> 60U) & 0xFFFFFFFFFFFFFULL);
    const std::uint64_t outer = inner + ((static_cast<std::uint64_t>(bits) & 0xFFFFFFFFFFFFFFFULL) != 0 ? 1 : 0);
    const Interval magnitude{std::bit_cast<double>(inner), std::bit_cast<double>(outer)};
    return bits >> 127U != 0 ? -magnitude : magnitude;
  }
  [[nodiscard]] static Quad scale(Quad x, int exponent);
  [[nodiscard]] static bool is_integer(Quad x, std::int64_t n) { return x == static_cast<Quad>(n); }
  [[nodiscard]] static bool is_product(Quad a, Quad b, Quad c) { return a * b == c; }
  /// By the exponent alone, which is at most twice as much.
  [[nodiscard]] static double rounding_of(Quad x) {
    const auto bits = std::bit_cast<QuadBits>(x);
    const auto exponent = static_cast<int>(static_cast<std::uint64_t>(bits >> 112U) & 0x7FFFU) - 16383;
    if (bits << 1U == 0) return 0;
    return exponent > -900 && exponent < 1023 ? std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1 - precision + 1023) << 52U)
                                              : mul_up(around(x).magnitude(), unit);
  }
  static constexpr double unit = std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon() / 512;

 private:
  [[nodiscard]] static Interval around_any(Quad x) {
    const auto d = static_cast<double>(x);
    return {static_cast<Quad>(d) > x ? down(d) : d, static_cast<Quad>(d) < x ? up(d) : d};
  }
};

/// A decimal constant, rounded to the type.
template <class R>
[[nodiscard]] Nearly<R> from_decimal(const spec::Number& decimal);
template <>
Nearly<double> from_decimal<double>(const spec::Number& decimal);
template <>
Nearly<Quad> from_decimal<Quad>(const spec::Number& decimal);

}  // namespace etalon::reference::bounds
