/// \file
/// Ranges of integers and their arithmetic.
#pragma once

#include <cstdint>

namespace etalon::spec {

/// low ≤ value ≤ high; an end beyond ±`unbounded` is not known.
struct Interval {
  static constexpr std::int64_t unbounded = std::int64_t{1} << 61;
  std::int64_t low = -unbounded;
  std::int64_t high = unbounded;
  [[nodiscard]] bool is_point() const { return low == high; }
};

/// k times the values. An end that is not known stays so: it is unknown, not large.
[[nodiscard]] Interval scaled(const Interval& i, std::int64_t k);
/// Sums of a value of each.
[[nodiscard]] Interval plus(const Interval& a, const Interval& b);
/// The values of either, and what lies between.
[[nodiscard]] Interval hull(const Interval& a, const Interval& b);
/// The values of both; where there is none the ends cross.
[[nodiscard]] Interval common(const Interval& a, const Interval& b);
/// The quotients by m > 0, rounded towards -∞.
[[nodiscard]] Interval floor_quotient(const Interval& i, std::int64_t m);

}  // namespace etalon::spec
