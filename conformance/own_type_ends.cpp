#include "conformance/own_type_ends.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "spec/half.hpp"

namespace etalon::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] double largest_of(DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  return std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.emax);
}

/// The number that follows the one with these bits; zeros count as positive.
[[nodiscard]] std::uint16_t next_half(std::uint16_t bits) {
  if ((bits & 0x7fffU) == 0) return 1;
  return static_cast<std::uint16_t>((bits & 0x8000U) != 0 ? bits - 1U : bits + 1U);
}

}  // namespace

double least_inside(double x, DType dtype) {
  const double largest = largest_of(dtype);
  if (x > largest) return infinity;
  const double at = std::max(x, -largest);
  if (spec::is_half(dtype)) {
    const std::uint16_t bits = spec::nearest_half(at, dtype);
    const double nearest = spec::half_value(bits, dtype);
    return nearest >= at ? nearest : spec::half_value(next_half(bits), dtype);
  }
  if (dtype != DType::f32) return at;
  const float nearest = static_cast<float>(at);
  return static_cast<double>(static_cast<double>(nearest) >= at ? nearest : std::nextafter(nearest, std::numeric_limits<float>::infinity()));
}

double greatest_inside(double x, DType dtype) { return -least_inside(-x, dtype); }

}  // namespace etalon::conformance
