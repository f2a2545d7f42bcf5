/// \file
/// The range of an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace etalon::training {

struct Range {
  double low = 0;
  double high = 1;
};

/// Smallest and largest finite value, widened where they coincide so that a flat curve can be drawn.
[[nodiscard]] inline Range range_of(const std::vector<double>& values) {
  bool any = false;
  Range r;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    r = any ? Range{std::min(r.low, v), std::max(r.high, v)} : Range{v, v};
    any = true;
  }
  if (r.low < r.high) return r;
  const double room = r.low == 0 ? 1 : std::abs(r.low) / 2;
  return {r.low - room, r.high + room};
}

}  // namespace etalon::training
