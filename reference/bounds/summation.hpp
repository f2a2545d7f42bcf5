/// \file
/// Lemma S: how far any evaluation of a floating-point sum, in any order or tree, lies from the exact sum of its
/// terms. It sees only what the terms have in common.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/bounds/interval.hpp"
#include "reference/bounds/rounding.hpp"
#include "reference/bounds/wide.hpp"

namespace etalon::reference::bounds {

/// What is known of the nonzero terms: suprema over the boxes they may lie in, each rounded up.
struct Terms {
  std::int64_t count = 0;
  double positive = 0;         ///< sum of the positive parts
  double negative = 0;         ///< sum of the negative parts' magnitudes
  double largest = 0;          ///< largest magnitude
  double positive_squares = 0; ///< sum of squares of the positive parts
  double negative_squares = 0;
  double total = 0;            ///< supremum of |exact sum|
  double magnitudes = 0;       ///< sum of the magnitudes
  std::int32_t quantum = zero_quantum;  ///< every term is a multiple of 2^quantum

  /// Adds a term that may lie anywhere in [lower, upper].
  void add(double lower, double upper, std::int32_t q) {
    const double p = upper > 0 ? upper : 0;
    const double n = lower < 0 ? -lower : 0;
    const double m = p > n ? p : n;
    ++count;
    if (p > 0) {
      positive = add_up(positive, p);
      positive_squares = add_up(positive_squares, mul_up(p, p));
    }
    if (n > 0) {
      negative = add_up(negative, n);
      negative_squares = add_up(negative_squares, mul_up(n, n));
    }
    magnitudes = add_up(magnitudes, m);
    if (m > largest) largest = m;
    if (q < quantum) quantum = q;
  }
};

/// Lemma S, with the height of the tallest declared tree when there is one; infinite when (n - 1)u >= 1/2.
/// Monotone in every field but the quantum; 0 when every partial sum is a number of the format.
/// Every operation is rounded away from a smaller bound.
[[nodiscard]] double summation_bound(const Terms& terms, const Rounding& rounding,
                                     std::optional<std::int64_t> height = {});

/// Statistical, not a bound: what the root of the mean square error of any order or tree does not exceed when roundings
/// are independent. Each level of a tree of height h adds at most (u·sum|t|)²·0.4 to the variance.
[[nodiscard]] double summation_deviation(const Terms& terms, const Rounding& rounding,
                                         std::optional<std::int64_t> height = {});

}  // namespace etalon::reference::bounds
