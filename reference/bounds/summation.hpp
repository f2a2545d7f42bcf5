/// \file
/// Lemma S: how far any evaluation of a floating-point sum, in any order or tree, lies from the exact sum of its
/// terms. It sees only what the terms have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "reference/bounds/rounding.hpp"
#include "reference/bounds/wide.hpp"

namespace etalon::reference::bounds {

/// a + b for a, b >= 0, rounded up: exact sums stay exact, and no sum passes for one that just fits.
[[nodiscard]] inline double add_up(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return (a - (sum - of_b)) + (b - of_b) > 0 ? up(sum) : sum;
}

/// What is known of the nonzero terms: suprema over the boxes they may lie in.
struct Terms {
  std::int64_t count = 0;
  double positive = 0;         ///< sum of the positive parts
  double negative = 0;         ///< sum of the negative parts' magnitudes
  double largest = 0;          ///< largest magnitude
  double positive_squares = 0; ///< sum of squares of the positive parts
  double negative_squares = 0;
  double total = 0;            ///< supremum of |exact sum|
  double magnitudes = 0;       ///< sum of the magnitudes, from above
  std::int32_t quantum = zero_quantum;  ///< every term is a multiple of 2^quantum

  /// Adds a term that may lie anywhere in [lower, upper].
  void add(double lower, double upper, std::int32_t q) {
    const double p = upper > 0 ? upper : 0;
    const double n = lower < 0 ? -lower : 0;
    const double m = p > n ? p : n;
    ++count;
    positive += p;
    negative += n;
    positive_squares += p * p;
    negative_squares += n * n;
    magnitudes = add_up(magnitudes, m);
    if (m > largest) largest = m;
    if (q < quantum) quantum = q;
  }
};

/// Lemma S (`fast`), with the height of the tallest declared tree when there is one; infinite when (n - 1)u >= 1/2.
/// Monotone in every field but the quantum; 0 when every partial sum is a number of the format.
[[nodiscard]] double summation_bound(const Terms& terms, const Rounding& rounding,
                                     std::optional<std::int64_t> height = {});

/// Statistical, not a bound: what the root of the mean square error of any order or tree does not exceed when roundings
/// are independent. Each level of a tree of height h adds at most (u·sum|t|)²·0.4 to the variance.
[[nodiscard]] double summation_deviation(const Terms& terms, const Rounding& rounding,
                                         std::optional<std::int64_t> height = {});

/// Lemma S (`chain`): the same with f(k) from the k largest terms of either sign, given point terms. Tighter, and
/// costs a sort.
[[nodiscard]] double summation_bound_chain(std::span<const double> terms, const Rounding& rounding,
                                           std::int32_t quantum);

}  // namespace etalon::reference::bounds
