#include "reference/bounds/summation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace etalon::reference::bounds {
namespace {

constexpr std::int64_t direct = 40;  // up to here every f(k) is evaluated; beyond, blocks
constexpr std::int64_t blocks = 24;

/// A function of the number of terms whose values for short sums are kept, since each is asked for several times.
template <class F>
class Kept {
 public:
  Kept(std::int64_t n, const F& f) : f_(f), kept_(n <= direct ? n : 0) {
    for (std::int64_t k = 1; k <= kept_; ++k) values_[static_cast<std::size_t>(k)] = f(k);
  }
  [[nodiscard]] double operator()(std::int64_t k) const { return k <= kept_ ? values_[static_cast<std::size_t>(k)] : f_(k); }

 private:
  const F& f_;
  std::int64_t kept_;
  std::array<double, direct + 1> values_;
};

/// Bounds sum over k in [first, last] of phi(k) for a nondecreasing phi from above.
template <class Phi>
double sum_up(std::int64_t first, std::int64_t last, const Phi& phi) {
  double sum = 0;
  const std::int64_t n = last - first + 1;
  const std::int64_t step = n <= direct ? 1 : (n + blocks - 1) / blocks;
  for (std::int64_t k = first; k <= last; k += step) {
    const std::int64_t end = std::min(k + step - 1, last);
    sum = add_up(sum, step == 1 ? phi(k) : mul_up(static_cast<double>(end - k + 1), phi(end)));
  }
  return sum;
}

/// The magnitude up to which every multiple of 2^quantum is a number of the format.
double grid_of(const Rounding& r, std::int32_t quantum) {
  return std::ldexp(1.0, std::clamp(r.precision + quantum, -1074, 1023));
}

/// What a number of at most that magnitude loses where it is rounded, in units of the roundoff. Below the normal doubles a
/// number is its own bound.
double lost_by(double magnitude, double grid) {
  constexpr double normal = std::numeric_limits<double>::min();
  return magnitude <= grid ? 0 : magnitude < normal ? magnitude : power_below(magnitude);
}

/// The larger half of Lemma S: everything but f, which is nondecreasing as rounded.
template <class F>
double lemma(std::int64_t n, double total, const Rounding& r, std::int32_t quantum, const F& f) {
  const double nu = mul_up(static_cast<double>(n - 1), r.u);
  if (nu >= 0.5) return infinity;
  const std::int64_t half = n / 2;
  const double big = sum_up(2, n, f);
  const double halves = add_up(sum_up(2, half, f), sum_up(2, n - half, f));
  const double w = std::min(big, add_up(halves, mul_up(static_cast<double>(n - half), total)));
  const double t0 = div_up(mul_up(r.u, w), sub_down(1, nu));
  const double grid = grid_of(r, quantum);
  // The lemma holds of any number that is not below its t0, and of any one g that does not fall.
  const auto g_above = [&](double x) { return lost_by(add_up(x, t0), grid); };
  const auto g_below = [&](double x) { return lost_by(add_down(x, t0), grid); };
  const auto g_of_f = [&](std::int64_t k) { return g_above(f(k)); };
  const Kept gf(n, g_of_f);
  const double all = sum_up(2, n, gf);
  double chain = add_up(add_up(sum_up(2, half, gf), sum_up(2, n - half, gf)), g_above(total));
  const std::int64_t last = n - half - 1;
  const std::int64_t step = last <= direct ? 1 : (last + blocks - 1) / blocks;
  for (std::int64_t j = 1; j <= last; j += step) {
    const std::int64_t end = std::min(j + step - 1, last);
    const double more = std::max(0.0, sub_up(g_above(add_up(total, f(end))), g_below(f(j + 1))));
    chain = add_up(chain, mul_up(static_cast<double>(end - j + 1), more));
  }
  return std::min({t0, mul_up(r.u, all), mul_up(r.u, chain)});
}

double height_bound(const Terms& t, const Rounding& r, std::int64_t height) {
  const double hu = mul_up(static_cast<double>(std::min(t.count - 1, height)), r.u);
  return hu >= 0.5 ? infinity : mul_up(div_up(hu, sub_down(1, hu)), t.magnitudes);
}

}  // namespace

double summation_bound(const Terms& t, const Rounding& r, std::optional<std::int64_t> height) {
  if (t.count <= 1) return 0;
  if (!(t.magnitudes < infinity)) return infinity;
  if (r.holds(t.magnitudes, t.quantum)) return 0;
  const double sides = std::max(t.positive, t.negative);
  const double total = std::min(t.total, sides);
  if (t.count == 2) return mul_up(r.u, lost_by(total, grid_of(r, t.quantum)));  // nothing but the result is rounded
  const double squares = std::max(t.positive_squares, t.negative_squares);
  const auto f = [&](std::int64_t k) {
    const auto count = static_cast<double>(k);
    return std::min({mul_up(count, t.largest), sqrt_up(mul_up(count, squares)), sides});
  };
  const double bound = lemma(t.count, total, r, t.quantum, Kept(t.count, f));
  return height ? std::min(bound, height_bound(t, r, *height)) : bound;
}

double summation_deviation(const Terms& t, const Rounding& r, std::optional<std::int64_t> height) {
  if (t.count <= 1 || r.holds(t.magnitudes, t.quantum)) return 0;
  const std::int64_t levels = std::min(t.count - 1, height.value_or(t.count - 1));
  return std::sqrt(0.4 * static_cast<double>(levels)) * r.u * t.magnitudes;
}

}  // namespace etalon::reference::bounds
