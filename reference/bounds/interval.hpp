/// \file
/// Arithmetic on doubles that errs to one side: each directed operation gives the least double that is not below the
/// exact result, or the greatest that is not above it, and intervals of them hold every exact result. The processor
/// rounds to nearest; which side it erred to is read off the exact error of that rounding, so that exact results stay
/// exact. This is the only place of the bounds where a double stands for a real number that it is not. It knows no
/// functions beyond roots.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

namespace etalon::reference::bounds {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0, "doubles are rounded at every operation");
#ifdef __FAST_MATH__
#error "what an operation rounded off cannot be computed under -ffast-math"
#endif

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The neighbours of a double; NaN and the infinity on that side stay.
[[nodiscard]] inline double up(double x) {
  if (!(std::fabs(x) <= std::numeric_limits<double>::max())) {
    return x == -infinity ? -std::numeric_limits<double>::max() : x;
  }
  if (x == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(x > 0 ? bits + 1 : bits - 1);
}
[[nodiscard]] inline double down(double x) { return -up(-x); }

/// A finite x, or the next double above it where what it lost in rounding is not known to be negative or zero: that is so
/// in half of all cases, which no branch predicts. A zero must have lost nothing.
[[nodiscard]] inline double up_unless(bool lost_nothing, double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(bits + (lost_nothing ? 0 : 1) * (1 | (bits >> 63)));
}

/// From this magnitude on what a product, a quotient's dividend or a root's argument loses in rounding is a double itself
/// (2^-1022 and the 53 bits that may lie below the last); below it of quotients and roots the next double is taken, needed or not.
inline constexpr double errors_are_doubles = 0x1p-968;

[[nodiscard]] inline bool has_exact_error(double x) {
  return std::fabs(x) >= errors_are_doubles && std::fabs(x) <= std::numeric_limits<double>::max();
}

/// a + b (Knuth's TwoSum: the error of an addition is a double).
[[nodiscard]] inline double add_up(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double error = (a - (sum - of_b)) + (b - of_b);
  if (!(std::fabs(sum) <= std::numeric_limits<double>::max())) return up(sum);
  return up_unless(error <= 0, sum);  // zero is exact
}
[[nodiscard]] inline double add_down(double a, double b) { return -add_up(-a, -b); }
[[nodiscard]] inline double sub_up(double a, double b) { return add_up(a, -b); }
[[nodiscard]] inline double sub_down(double a, double b) { return -add_up(-a, b); }

/// x · 2^exponent, where zero is reached from below alone: a root of what vanished need not be small.
[[nodiscard]] inline double scale_up(double x, int exponent) {
  const double scaled = std::ldexp(x, exponent);
  return std::ldexp(scaled, -exponent) >= x ? scaled : up(scaled);
}
[[nodiscard]] inline double scale_down(double x, int exponent) { return -scale_up(-x, exponent); }

/// The exponent's bits of a double.
[[nodiscard]] constexpr int exponent_bits(double x) { return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52U) & 0x7ffU); }

/// Whether a · b certainly is of a magnitude at which `has_exact_error`, and is finite; told by the exponents, since a
/// processor takes a hundred times as long for a product that is subnormal.
[[nodiscard]] inline bool is_ordinary_product(double a, double b) {
  constexpr int least = exponent_bits(1) + exponent_bits(errors_are_doubles), most = 2 * exponent_bits(1) + 1022;
  const int of_a = exponent_bits(a), of_b = exponent_bits(b);
  return of_a + of_b >= least && of_a + of_b <= most && std::min(of_a, of_b) > 0 && std::max(of_a, of_b) < exponent_bits(infinity);
}

/// a · b for finite numbers other than zero whose product is too small to be ordinary: computed in integers, and rounded up once.
[[nodiscard]] inline double small_product_up(double a, double b) {
  __extension__ using Whole = unsigned __int128;
  constexpr std::uint64_t leading = std::uint64_t{1} << 52U;
  const auto whole = [](double x) {
    return (std::bit_cast<std::uint64_t>(x) & (leading - 1)) | (exponent_bits(x) == 0 ? 0 : leading);
  };
  const Whole product = Whole{whole(a)} * whole(b);
  // The product is this times 2^exponent; of doubles none ends below 2^-1074, and those with 53 bits end above.
  const int exponent = std::max(exponent_bits(a), 1) + std::max(exponent_bits(b), 1) - 2 * 1075;
  const auto high = static_cast<std::uint64_t>(product >> 64U);
  const int bits = high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(product));
  const int dropped = std::max({bits - 53, -1074 - exponent, 0});
  const auto kept = dropped < 128 ? static_cast<std::uint64_t>(product >> static_cast<unsigned>(dropped)) : 0;
  const bool exact = dropped < 128 && (Whole{kept} << static_cast<unsigned>(dropped)) == product;
  const bool negative = std::signbit(a) != std::signbit(b);
  const std::uint64_t end = static_cast<std::uint64_t>(dropped + exponent + 1074) << 52U;
  const double magnitude = std::bit_cast<double>(end + kept + (exact || negative ? 0 : 1));
  return negative ? -magnitude : magnitude;
}

/// a · b, where zero times an infinity is zero: an infinite end stands for numbers without bound.
[[nodiscard]] inline double mul_up(double a, double b) {
  if (a == 0 || b == 0) return 0;
  if (!is_ordinary_product(a, b)) {
    const bool finite = std::isfinite(a) && std::isfinite(b);
    if (finite && exponent_bits(a) + exponent_bits(b) < 2 * exponent_bits(1)) return small_product_up(a, b);
    const double product = a * b;
    if (!std::isfinite(product)) return up(product);
  }
  const double product = a * b;
  return up_unless(std::fma(a, b, -product) <= 0, product);
}
[[nodiscard]] inline double mul_down(double a, double b) { return -mul_up(-a, b); }

/// a / b; by an infinity it is zero, by zero infinite.
[[nodiscard]] inline double div_up(double a, double b) {
  if (a == 0 || std::isinf(b)) return 0;
  const double quotient = a / b;
  if (b == 0 || std::isinf(a)) return quotient;
  if (!has_exact_error(a) || !has_exact_error(quotient)) return quotient == 0 && (a < 0) != (b < 0) ? 0 : up(quotient);
  const double rest = std::fma(-quotient, b, a);
  return rest == 0 || (rest < 0) != (b < 0) ? quotient : up(quotient);
}
[[nodiscard]] inline double div_down(double a, double b) { return -div_up(-a, b); }

/// The root of x >= 0.
[[nodiscard]] inline double sqrt_up(double x) {
  const double root = std::sqrt(x);
  if (x == 0 || std::isinf(x)) return root;
  return has_exact_error(x) && std::fma(-root, root, x) <= 0 ? root : up(root);
}
[[nodiscard]] inline double sqrt_down(double x) {
  const double root = std::sqrt(x);
  if (x == 0 || std::isinf(x)) return root;
  return has_exact_error(x) && std::fma(-root, root, x) >= 0 ? root : down(root);
}

/// Not below x + |x|/2^53 and at most two doubles above x: where nothing is exact, no branch has to ask what was.
[[nodiscard]] inline double wider_up(double x) { return x + std::fabs(x) * std::numeric_limits<double>::epsilon(); }
[[nodiscard]] inline double wider_down(double x) { return x - std::fabs(x) * std::numeric_limits<double>::epsilon(); }

/// All reals from `lower` to `upper`; an infinite end stands for numbers without bound.
struct Interval {
  double lower = 0;
  double upper = 0;

  [[nodiscard]] double magnitude() const { return std::fmax(std::fabs(lower), std::fabs(upper)); }
  /// Smallest magnitude in the interval.
  [[nodiscard]] double least() const { return lower > 0 ? lower : upper < 0 ? -upper : 0; }
  [[nodiscard]] bool holds_zero() const { return lower <= 0 && upper >= 0; }
};

[[nodiscard]] inline Interval just(double x) { return {x, x}; }
[[nodiscard]] inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

/// All numbers within `radius` of one in the interval.
[[nodiscard]] inline Interval widened(const Interval& a, double radius) {
  return {sub_down(a.lower, radius), add_up(a.upper, radius)};
}

[[nodiscard]] inline Interval operator-(const Interval& a) { return {-a.upper, -a.lower}; }
[[nodiscard]] inline Interval operator+(const Interval& a, const Interval& b) {
  return {add_down(a.lower, b.lower), add_up(a.upper, b.upper)};
}
[[nodiscard]] inline Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

[[nodiscard]] inline Interval operator*(const Interval& a, const Interval& b) {
  if (a.lower >= 0) {
    // Which ends give the least and the greatest product is told by the signs of b.
    return {mul_down(b.lower >= 0 ? a.lower : a.upper, b.lower), mul_up(b.upper >= 0 ? a.upper : a.lower, b.upper)};
  }
  if (a.upper <= 0) return -(-a * b);
  if (b.lower >= 0 || b.upper <= 0) return b * a;
  return {std::min(mul_down(a.lower, b.upper), mul_down(a.upper, b.lower)),
          std::max(mul_up(a.lower, b.lower), mul_up(a.upper, b.upper))};
}

/// Adds all products of a and b to those that are in `sum` already: no end is cut off, but neither is the least that
/// there is. Where nothing is exact, no branch has to ask what was.
inline void accumulate(Interval& sum, const Interval& a, const Interval& b) {
  // Zeros are worth being kept, and so is the least that underflows.
  if (!is_ordinary_product(a.lower, b.lower) || !is_ordinary_product(a.lower, b.upper) || !is_ordinary_product(a.upper, b.lower) ||
      !is_ordinary_product(a.upper, b.upper)) {
    sum = sum + a * b;
    return;
  }
  const double products[] = {a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
  const double least = std::min(std::min(products[0], products[1]), std::min(products[2], products[3]));
  const double most = std::max(std::max(products[0], products[1]), std::max(products[2], products[3]));
  sum = {wider_down(sum.lower + wider_down(least)), wider_up(sum.upper + wider_up(most))};
}

/// The quotients by all members but zero.
[[nodiscard]] inline Interval operator/(const Interval& a, const Interval& b) {
  if (b.holds_zero()) {
    if (b.lower < 0 && b.upper > 0) return {-infinity, infinity};
    return a * (b.upper > 0 ? Interval{div_down(1, b.upper), infinity} : Interval{-infinity, div_up(1, b.lower)});
  }
  if (b.upper < 0) return -(a / -b);
  return {div_down(a.lower, a.lower >= 0 ? b.upper : b.lower), div_up(a.upper, a.upper >= 0 ? b.lower : b.upper)};
}

[[nodiscard]] inline Interval square(const Interval& a) {
  return {mul_down(a.least(), a.least()), mul_up(a.magnitude(), a.magnitude())};
}

/// The roots of the members that have one.
[[nodiscard]] inline Interval sqrt(const Interval& a) {
  return {sqrt_down(std::max(a.lower, 0.0)), sqrt_up(a.upper)};
}

}  // namespace etalon::reference::bounds
