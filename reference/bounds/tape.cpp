#include "reference/bounds/tape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::reference::bounds {
namespace {

constexpr double least = std::numeric_limits<double>::min();
constexpr double least_step = std::numeric_limits<double>::denorm_min();

}  // namespace

/// Fills `order_` with the nodes below `output`, operands first.
void Tape::collect(NodeId output) {
  seen_.resize(local_.size(), 0);
  lower_.resize(local_.size(), 0);
  upper_.resize(local_.size(), 0);
  magnitude_.resize(local_.size(), 0);
  order_.clear();
  stack_.clear();
  stack_.emplace_back(output, begin_[static_cast<std::size_t>(output)]);
  seen_[static_cast<std::size_t>(output)] = 1;
  while (!stack_.empty()) {
    auto& [node, next] = stack_.back();
    const std::uint32_t end = end_of(node);
    while (next < end && seen_[static_cast<std::size_t>(edges_[next].operand)] != 0) ++next;
    if (next == end) {
      order_.push_back(node);
      stack_.pop_back();
      continue;
    }
    const NodeId operand = edges_[next++].operand;
    seen_[static_cast<std::size_t>(operand)] = 1;
    stack_.emplace_back(operand, begin_[static_cast<std::size_t>(operand)]);
  }
}

Error Tape::error(NodeId output, std::size_t budget) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto root = static_cast<std::size_t>(output);
  // Operands are earlier nodes, which have all of theirs.
  if (root >= first_without_) return {infinity, infinity};
  if (begin_[root] == end_of(output)) return {local_[root], steady_[root] + spread_[root]};
  if (work_ > budget) return {infinity, infinity};
  collect(output);
  lower_[root] = upper_[root] = magnitude_[root] = 1;
  double error = 0;
  double steady = 0;
  double variance = 0;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const auto n = static_cast<std::size_t>(*it);
    const double lo = lower_[n];
    const double hi = upper_[n];
    lower_[n] = upper_[n] = 0;
    seen_[n] = 0;
    // Adjoints that cancel keep the rounding of what they were added from, and so do the edges; what underflowed on
    // the way was smaller than the smallest normal number.
    const double kept = magnitude_[n];
    magnitude_[n] = 0;
    if (local_[n] > 0) {
      const double adjoint = std::max(std::fabs(lo), std::fabs(hi)) + 0x1p-40 * kept + least;
      error += adjoint * local_[n] + least_step;
      steady += adjoint * steady_[n];
      variance += adjoint * spread_[n] * (adjoint * spread_[n]);
    }
    const std::uint32_t end = end_of(*it);
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      const Edge& e = edges_[i];
      const auto o = static_cast<std::size_t>(e.operand);
      magnitude_[o] += kept * std::max(std::fabs(e.lower), std::fabs(e.upper));
      if (e.lower == e.upper) {
        lower_[o] += e.lower >= 0 ? lo * e.lower : hi * e.lower;
        upper_[o] += e.lower >= 0 ? hi * e.lower : lo * e.lower;
        continue;
      }
      const double a = lo * e.lower;
      const double b = lo * e.upper;
      const double c = hi * e.lower;
      const double d = hi * e.upper;
      lower_[o] += std::min({a, b, c, d});
      upper_[o] += std::max({a, b, c, d});
    }
    work_ += end - begin_[n] + 1;
  }
  if (std::isnan(error)) return {infinity, infinity};
  return {error, steady + std::sqrt(variance)};
}

}  // namespace etalon::reference::bounds
