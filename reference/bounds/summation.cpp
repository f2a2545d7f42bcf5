#include "reference/bounds/summation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace etalon::reference::bounds {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t direct = 40;  // up to here every f(k) is evaluated; beyond, blocks
constexpr std::int64_t blocks = 24;

/// Bounds sum over k in [first, last] of phi(k) for a nondecreasing phi from above.
template <class Phi>
double sum_up(std::int64_t first, std::int64_t last, const Phi& phi) {
  double sum = 0;
  const std::int64_t n = last - first + 1;
  const std::int64_t step = n <= direct ? 1 : (n + blocks - 1) / blocks;
  for (std::int64_t k = first; k <= last; k += step) {
    const std::int64_t end = std::min(k + step - 1, last);
    sum += static_cast<double>(end - k + 1) * phi(end);
  }
  return sum;
}

/// The larger half of Lemma S: everything but f.
template <class F>
double lemma(std::int64_t n, double total, const Rounding& r, std::int32_t quantum, const F& f) {
  const double nu = static_cast<double>(n - 1) * r.u;
  if (nu >= 0.5) return infinity;
  const std::int64_t half = n / 2;
  const double big = sum_up(2, n, f);
  const double halves = sum_up(2, half, f) + sum_up(2, n - half, f);
  const double w = std::min(big, halves + static_cast<double>(n - half) * total);
  const double t0 = r.u * w / (1 - nu);
  const double grid = std::ldexp(1.0, std::clamp(r.precision + quantum, -1074, 1023));
  const auto g = [&](double x) { return x + t0 > grid ? power_below(x + t0) : 0.0; };
  const auto gf = [&](std::int64_t k) { return g(f(k)); };
  const double all = sum_up(2, n, gf);
  double chain = sum_up(2, half, gf) + sum_up(2, n - half, gf) + g(total);
  const std::int64_t last = n - half - 1;
  const std::int64_t step = last <= direct ? 1 : (last + blocks - 1) / blocks;
  for (std::int64_t j = 1; j <= last; j += step) {
    const std::int64_t end = std::min(j + step - 1, last);
    chain += static_cast<double>(end - j + 1) * std::max(0.0, g(total + f(end)) - g(f(j + 1)));
  }
  return std::min({t0, r.u * all, r.u * chain});
}

double height_bound(const Terms& t, const Rounding& r, std::int64_t height) {
  const double hu = static_cast<double>(std::min(t.count - 1, height)) * r.u;
  return hu >= 0.5 ? infinity : hu / (1 - hu) * t.magnitudes;
}

}  // namespace

double summation_bound(const Terms& t, const Rounding& r, std::optional<std::int64_t> height) {
  const double sides = std::max(t.positive, t.negative);
  if (t.count <= 1) return 0;
  if (!(t.magnitudes < infinity)) return infinity;
  if (r.holds(t.magnitudes, t.quantum)) return 0;
  // Where squares leave the range of a double they say nothing.
  const double squares = t.largest > 0x1p-480 ? std::max(t.positive_squares, t.negative_squares) : infinity;
  const auto f = [&](std::int64_t k) {
    const auto count = static_cast<double>(k);
    return std::min({count * t.largest, std::sqrt(count * squares), sides});
  };
  double bound = lemma(t.count, std::min(t.total, sides), r, t.quantum, f);
  if (height) bound = std::min(bound, height_bound(t, r, *height));
  return bound * (1 + 0x1p-30);
}

double summation_deviation(const Terms& t, const Rounding& r, std::optional<std::int64_t> height) {
  if (t.count <= 1 || r.holds(t.magnitudes, t.quantum)) return 0;
  const std::int64_t levels = std::min(t.count - 1, height.value_or(t.count - 1));
  return std::sqrt(0.4 * static_cast<double>(levels)) * r.u * t.magnitudes;
}

double summation_bound_chain(std::span<const double> terms, const Rounding& r, std::int32_t quantum) {
  std::vector<double> sides[2];
  double total = 0;
  double magnitudes = 0;
  for (const double t : terms) {
    if (t != 0) sides[t < 0 ? 1 : 0].push_back(std::fabs(t));
    total += t;
    magnitudes = add_up(magnitudes, std::fabs(t));
  }
  const auto n = static_cast<std::int64_t>(sides[0].size() + sides[1].size());
  if (n <= 1 || r.holds(magnitudes, quantum)) return 0;
  std::vector<double> top(static_cast<std::size_t>(n) + 1, 0.0);
  for (auto& side : sides) {
    std::sort(side.begin(), side.end(), std::greater<>());
    double sum = 0;
    for (std::size_t k = 1; k < top.size(); ++k) {
      if (k <= side.size()) sum += side[k - 1];
      top[k] = std::max(top[k], sum);
    }
  }
  const auto f = [&](std::int64_t k) { return top[static_cast<std::size_t>(k)]; };
  return lemma(n, std::fabs(total), r, quantum, f) * (1 + 0x1p-30);
}

}  // namespace etalon::reference::bounds
