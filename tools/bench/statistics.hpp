/// \file
/// What is said of repeated samples of one quantity, and in which order competitors are sampled. It knows no clock.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace etalon::bench {

/// Samples of one competitor in numbers. Neighbours on the machine only ever add time: the best sample says what the
/// code can do, the median what it did.
struct Summary {
  double best = 0;
  double median = 0;
  double worst = 0;
  std::size_t samples = 0;
};

/// \pre there is at least one sample; all are finite
[[nodiscard]] Summary summary_of(std::span<const double> samples);

/// \pre all values are positive and there is at least one
[[nodiscard]] double geometric_mean(std::span<const double> values);

/// The order of `competitors` in a round: every one once, each round beginning one later, so that nobody always runs
/// behind the same neighbour.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t competitors, std::size_t round);

}  // namespace etalon::bench
