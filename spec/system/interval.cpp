#include "spec/system/interval.hpp"

#include <algorithm>

#include "spec/system/affine.hpp"

namespace etalon::spec {
namespace {

constexpr std::int64_t far = Interval::unbounded;

std::int64_t clamped(std::int64_t v) { return std::clamp(v, -far, far); }

std::int64_t product(std::int64_t v, std::int64_t k) {
  std::int64_t result = 0;
  const bool overflows = __builtin_mul_overflow(v, k, &result);
  if (overflows) return (v > 0) == (k > 0) ? far : -far;
  return clamped(result);
}

}  // namespace

Interval scaled(const Interval& i, std::int64_t k) {
  if (k == 0) return {0, 0};
  const std::int64_t a = i.low <= -far ? (k > 0 ? -far : far) : product(i.low, k);
  const std::int64_t b = i.high >= far ? (k > 0 ? far : -far) : product(i.high, k);
  return {std::min(a, b), std::max(a, b)};
}

Interval plus(const Interval& a, const Interval& b) {
  return {a.low <= -far || b.low <= -far ? -far : clamped(clamped(a.low) + clamped(b.low)),
          a.high >= far || b.high >= far ? far : clamped(clamped(a.high) + clamped(b.high))};
}

Interval hull(const Interval& a, const Interval& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
Interval common(const Interval& a, const Interval& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }

Interval floor_quotient(const Interval& i, std::int64_t m) {
  return {i.low <= -far ? -far : floor_quotient(i.low, m), i.high >= far ? far : floor_quotient(i.high, m)};
}

}  // namespace etalon::spec
