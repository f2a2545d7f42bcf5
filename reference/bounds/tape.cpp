#include "reference/bounds/tape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::reference::bounds {

/// Fills `order_` with the nodes below `output`, operands first.
void Tape::collect(NodeId output) {
  seen_.resize(local_.size(), 0);
  adjoints_.resize(local_.size());
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

void Tape::shrink(std::size_t size) {
  work_ = 0;
  if (size >= local_.size()) return;
  edges_.resize(begin_[size]);
  local_.resize(size);
  steady_.resize(size);
  spread_.resize(size);
  begin_.resize(size);
  if (first_without_ >= size) first_without_ = std::numeric_limits<std::size_t>::max();
}

Error Tape::error(NodeId output, std::size_t budget) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto root = static_cast<std::size_t>(output);
  // Operands are earlier nodes, which have all of theirs.
  if (root >= first_without_) return {infinity, infinity};
  if (begin_[root] == end_of(output)) return {local_[root], steady_[root] + spread_[root]};
  if (work_ > budget) return {infinity, infinity};
  collect(output);
  adjoints_[root] = just(1);
  double error = 0;
  double steady = 0;
  double variance = 0;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const auto n = static_cast<std::size_t>(*it);
    const Interval adjoint = adjoints_[n];
    adjoints_[n] = {};
    seen_[n] = 0;
    if (local_[n] > 0) {
      const double size = adjoint.lower <= adjoint.upper ? adjoint.magnitude() : infinity;
      const double part = size * local_[n];
      error = wider_up(error + (has_exact_error(part) ? wider_up(part) : mul_up(size, local_[n])));
      steady += size * steady_[n];
      variance += size * spread_[n] * (size * spread_[n]);
    }
    const std::uint32_t end = end_of(*it);
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      Interval& operand = adjoints_[static_cast<std::size_t>(edges_[i].operand)];
      operand = wider_sum(operand, wider_product(edges_[i].slope, adjoint));
    }
    work_ += end - begin_[n] + 1;
  }
  if (std::isnan(error)) return {infinity, infinity};
  return {error, steady + std::sqrt(variance)};
}

}  // namespace etalon::reference::bounds
