/// \file
/// What the analysis knows of one real scalar: the exact value, the interval in which every conforming evaluation
/// lies, and how its error hangs on earlier errors. It knows no operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "reference/bounds/envelope.hpp"
#include "reference/bounds/interval.hpp"
#include "reference/bounds/tape.hpp"
#include "reference/bounds/wide.hpp"

namespace etalon::reference::bounds {

/// Beside the bits of Admissible: the mean value theorem does not hold below here, so only the interval counts.
inline constexpr std::uint8_t interval_only = 64;
static_assert((interval_only & (admits_finite | admits_positive_infinity | admits_negative_infinity | admits_nan | undecided | given_up)) == 0);

/// A conforming evaluation has v = reference + coefficient · (error of node) + d, |d| <= local, and v is in the interval
/// when it is finite; so does and is the exact value, since errors count what the reference itself lost. `coefficient` is
/// ± a power of two. A value without node and local error is exact.
template <class R>
struct Value : Interval {
  R reference = 0;
  double coefficient = 1;
  double local = 0;
  double scale = 0;  ///< magnitude of what it was added up from
  NodeId node = no_node;
  std::int32_t quantum = no_quantum;  ///< every conforming value is a multiple of 2^quantum
  std::uint8_t flags = admits_finite;
  bool positive_zero = false;  ///< exactly zero, and not -0 in any conforming evaluation
  bool negative_zero = false;  ///< given as -0, or 0 negated

  [[nodiscard]] bool ordinary() const { return flags == admits_finite; }
  [[nodiscard]] bool exact() const { return node == no_node && local == 0 && flags == admits_finite; }
  [[nodiscard]] bool is_zero() const { return lower == 0 && upper == 0 && ordinary(); }
  /// A zero that may be -0 as well as 0.
  [[nodiscard]] bool is_zero_of_any_sign() const { return is_zero() && !positive_zero && !negative_zero; }
  [[nodiscard]] bool is_power_of_two() const { return exact() && lower == upper && lower != 0 && power_below(lower) == std::fabs(lower); }
  [[nodiscard]] bool may(std::uint8_t what) const { return (flags & what) != 0; }
  /// The only value that a conforming evaluation may have; nothing where there are several.
  [[nodiscard]] std::optional<R> only() const {
    if (exact()) return reference;
    switch (flags & (admits_finite | admits_nan | admits_positive_infinity | admits_negative_infinity)) {
      case admits_nan: return static_cast<R>(std::numeric_limits<double>::quiet_NaN());
      case admits_positive_infinity: return static_cast<R>(infinity);
      case admits_negative_infinity: return static_cast<R>(-infinity);
      default: return std::nullopt;
    }
  }
  /// 1 or -1 where every conforming value has that sign, zeros included; else 0.
  [[nodiscard]] int sign() const {
    const bool finite = may(admits_finite);
    const bool above = !finite || lower > 0 || (positive_zero && is_zero());
    if (above && !may(admits_negative_infinity)) return 1;
    return (!finite || upper < 0) && !may(admits_positive_infinity) ? -1 : 0;
  }
  void enclose(const Interval& box) {
    lower = box.lower;
    upper = box.upper;
  }
};

/// An exact number, possibly infinite or NaN.
template <class R>
[[nodiscard]] Value<R> point(R x) {
  Value<R> v;
  v.reference = x;
  v.enclose(Wide<R>::around(x));
  v.scale = std::fabs(v.upper);
  if (v.upper - v.upper != 0) {
    const bool nan = !(x == x);
    v.flags = static_cast<std::uint8_t>(interval_only | (nan       ? admits_nan
                                                         : x > 0 ? admits_positive_infinity
                                                                 : admits_negative_infinity));
    v.lower = 0;
    v.upper = 0;
    return v;
  }
  v.quantum = lowest_bit(x);
  return v;
}

/// A number that is given: its zero has a sign.
template <class R>
[[nodiscard]] Value<R> given(R x) {
  Value<R> v = point(x);
  v.negative_zero = x == 0 && std::signbit(static_cast<double>(x));
  v.positive_zero = x == 0 && !v.negative_zero;
  return v;
}

/// A number somewhere in the box, by an error of its own.
template <class R>
[[nodiscard]] Value<R> between(R x, const Interval& box) {
  Value<R> v = point(x);
  if (box.lower == box.upper) return v;
  v.enclose(box);
  v.quantum = no_quantum;
  v.scale = std::max(std::fabs(box.lower), std::fabs(box.upper));
  const auto reference = static_cast<double>(x);
  v.local = std::max(add_up(box.upper, -reference), add_up(reference, -box.lower));
  return v;
}

/// The value times ± 2^exponent, exact apart from what a double cannot hold.
template <class R>
void scale_exactly(Value<R>& v, bool negative, int exponent) {
  if (exponent != 0) {
    const R scaled = Wide<R>::scale(v.reference, exponent);
    const bool kept = Wide<R>::scale(scaled, -exponent) == v.reference;
    v.reference = scaled;
    v.enclose({scale_down(v.lower, exponent), scale_up(v.upper, exponent)});
    v.local = add_up(scale_up(v.local, exponent), kept ? 0 : std::numeric_limits<double>::denorm_min());
    v.coefficient = std::ldexp(v.coefficient, exponent);
    // Where no double is the derivative the interval says what there is to say.
    if (v.node != no_node && !std::isnormal(v.coefficient)) v.flags |= interval_only;
    v.scale = std::ldexp(v.scale, exponent);
    if (v.quantum > no_quantum / 2 && v.quantum < zero_quantum / 2) v.quantum += exponent;
  }
  if (!negative) return;
  // A zero that is given as -0 may have lost its sign on the way.
  v.negative_zero = std::exchange(v.positive_zero, false);
  v.reference = -v.reference;
  const double low = v.lower;
  v.lower = -v.upper;
  v.upper = -low;
  v.coefficient = -v.coefficient;
  const auto infinities = admits_positive_infinity | admits_negative_infinity;
  const int swapped = ((v.flags & admits_positive_infinity) << 1) | ((v.flags & admits_negative_infinity) >> 1);
  v.flags = static_cast<std::uint8_t>((v.flags & ~infinities) | swapped);
}

}  // namespace etalon::reference::bounds
