#include "tools/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace etalon::bench {

Summary summary_of(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  const bool odd = sorted.size() % 2 == 1;
  const double median = odd ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return {sorted.front(), median, sorted.back(), sorted.size()};
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::vector<std::size_t> order_of_round(std::size_t competitors, std::size_t round) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < competitors; ++i) order.push_back((i + round) % competitors);
  return order;
}

}  // namespace etalon::bench
