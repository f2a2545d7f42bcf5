#include "conformance/measure/points.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"
#include "spec/half.hpp"

namespace etalon::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Sampler {
 public:
  Sampler(DType dtype, std::uint64_t seed) : dtype_(dtype), format_(spec::format_of(dtype)), random_(seed) {}

  [[nodiscard]] double nearest(double x) const {
    if (dtype_ == DType::f64) return x;
    if (dtype_ == DType::f32) return static_cast<double>(static_cast<float>(x));
    return spec::half_value(spec::nearest_half(x, dtype_), dtype_);
  }

  /// In [0, 1).
  [[nodiscard]] double uniform() { return static_cast<double>(random_() >> 11U) * 0x1p-53; }
  [[nodiscard]] double sign() { return (random_() & 1U) != 0 ? -1 : 1; }
  /// Any exponent in [low, high], any digits.
  [[nodiscard]] double spread(int low, int high) {
    const double exponent = low + std::floor(uniform() * (high - low + 1));
    return nearest(sign() * std::ldexp(1 + uniform(), static_cast<int>(exponent)));
  }
  /// A few last places beside x.
  [[nodiscard]] double beside(double x) {
    const double steps = std::floor(uniform() * 9) - 4;
    const double size = x == 0 ? format_.emin : std::ilogb(x);
    return nearest(x + steps * std::ldexp(1.0, static_cast<int>(size) - format_.precision + 1));
  }

  /// Any distance that is small beside x, in the logarithm of the distance.
  [[nodiscard]] double near(double x) {
    return nearest(x * (1 + sign() * uniform() * std::exp2(-1 - uniform() * format_.precision)));
  }

  [[nodiscard]] double draw() {
    const int least = format_.emin - format_.precision + 1;
    switch (random_() % 9) {
      case 0: return spread(least, format_.emax);
      case 1: return spread(-12, 12);
      case 2: return nearest(sign() * uniform() * (format_.emax + 24));           // where exp is finite, and beyond
      case 3: return nearest(sign() * uniform() * 12);
      case 4: return nearest(sign() * (1 + spread(1 - format_.precision, -1)));   // near 1, where logarithms vanish
      case 5: return beside(sign() * std::floor(uniform() * 4096) * std::numbers::pi / 4);
      case 6: return beside(sign() * std::ldexp(std::floor(uniform() * 256), -1));
      case 7: return spread(format_.emin, format_.emin + 8);
      default: return beside(sign() * std::floor(std::exp2(uniform() * 60)) * std::numbers::pi / 2);
    }
  }

  /// An exponent under which x has an ordinary power, most of the time.
  [[nodiscard]] double power_of(double x) {
    const double size = std::fabs(std::log2(std::fabs(x)));
    const std::uint64_t kind = random_() % 5;
    if (kind == 0) return draw();
    if (kind == 2 && size > 0 && size < infinity) return near(sign() * (format_.emax + 1) / size);
    if (kind == 1) return nearest(sign() * std::floor(uniform() * 32) / 2);
    if (!(size > 0) || size == infinity) return spread(-4, 4);
    return nearest(sign() * uniform() * (format_.emax + format_.precision) / size);
  }

  [[nodiscard]] std::array<double, 14> special() const {
    const double tau = std::ldexp(1.0, format_.emin);
    const double eta = std::ldexp(1.0, format_.emin - format_.precision + 1);
    const double omega = std::ldexp(2 - std::ldexp(1.0, 1 - format_.precision), format_.emax);
    return {0.0, -0.0, 1.0, -1.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
            tau, -tau, eta, -eta, tau - eta, omega, -omega};
  }

 private:
  DType dtype_;
  spec::Format format_;
  std::mt19937_64 random_;
};

/// Where results of a function of one operand cease to be ordinary: overflow, underflow, or leave its domain.
std::vector<double> edges_of(spec::Primitive p, DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  const double omega = std::ldexp(2 - std::ldexp(1.0, 1 - f.precision), f.emax);
  const auto kind = [&](double x) {
    const double y = std::fabs(reference::bounds::Wide<double>::evaluate(p, x));
    return std::isnan(y) ? 0 : y > omega ? 1 : y < std::ldexp(1.0, f.emin) ? 2 : 3;
  };
  std::vector<double> edges;
  for (const double sign : {1.0, -1.0}) {
    for (int e = f.emin; e < f.emax; ++e) {
      double low = std::ldexp(sign, e), high = std::ldexp(sign, e + 1);
      if (kind(low) == kind(high)) continue;
      const int below = kind(low);
      for (int step = 0; step < 60; ++step) {
        const double middle = low + (high - low) / 2;
        (kind(middle) == below ? low : high) = middle;
      }
      edges.push_back(low);
    }
  }
  return edges;
}

}  // namespace

Columns points_near(std::span<const double> place, DType dtype, std::size_t count, std::uint64_t seed) {
  Sampler sampler(dtype, seed);
  Columns columns(place.size());
  while (columns[0].size() < count) {
    for (std::size_t i = 0; i < place.size(); ++i) columns[i].push_back(sampler.near(place[i]));
  }
  return columns;
}

Columns points_at_edges(spec::Primitive p, DType dtype, std::size_t count, std::uint64_t seed) {
  Columns columns(1);
  if (spec::info(p).arity != 1) return columns;
  Sampler sampler(dtype, seed);
  const std::vector<double> edges = edges_of(p, dtype);
  for (std::size_t i = 0; i < count && !edges.empty(); ++i) columns[0].push_back(sampler.near(edges[i % edges.size()]));
  return columns;
}

Columns sample_points(spec::Primitive p, DType dtype, std::size_t count, std::uint64_t seed) {
  Sampler sampler(dtype, seed);
  const std::size_t arity = spec::info(p).arity;
  Columns columns(arity);
  const auto special = sampler.special();
  for (const double x : special) {
    if (arity == 1) columns[0].push_back(x);
    for (std::size_t i = 0; arity == 2 && i < special.size(); ++i) {
      columns[0].push_back(x);
      columns[1].push_back(special[i]);
    }
  }
  while (columns[0].size() < count) {
    const double x = sampler.draw();
    columns[0].push_back(x);
    if (arity == 2) columns[1].push_back(p == spec::Primitive::pow ? sampler.power_of(x) : sampler.draw());
  }
  return columns;
}

}  // namespace etalon::conformance
