#include "reference/bounds/tape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::reference::bounds {
namespace {

/// Of an error found so far: a million parts as small as this do not widen it by 2^-44 of itself.
constexpr double negligible = 0x1p-64;

}  // namespace

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

/// Where an operand that passes has few edges of its own, they are multiplied through: one factor is lost in no sweep.
bool Tape::fold(const Edge& e) {
  constexpr std::uint32_t few = 4;
  const auto n = static_cast<std::size_t>(e.operand);
  const std::uint32_t begin = begin_[n];
  const std::uint32_t end = end_of(e.operand);
  if (end - begin > few || n >= first_without_ || !(e.slope.lower <= e.slope.upper)) {
    referred_ = true;
    return false;
  }
  const double size = e.slope.magnitude();
  local_.back() = add_up(local_.back(), mul_up(size, local_[n]));
  steady_.back() += size * steady_[n];
  variance_.back() += size * size * variance_[n];
  for (std::uint32_t i = begin; i < end; ++i) {
    Edge through{edges_[i].operand, {}};
    accumulate(through.slope, edges_[i].slope, e.slope);
    if (through.operand >= passing_) referred_ = true;
    record(through);
  }
  return true;
}

NodeId Tape::end_passing(NodeId kept) {
  const NodeId first = std::exchange(passing_, nothing_passes);
  const auto to = static_cast<std::size_t>(first);
  if (kept < first) {
    drop_from(to);
    return kept;
  }
  if (referred_) return kept;
  const auto from = static_cast<std::size_t>(kept);
  const auto edges = edges_.begin() + static_cast<std::ptrdiff_t>(begin_[from]);
  const auto end = edges_.begin() + static_cast<std::ptrdiff_t>(end_of(kept));
  edges_.erase(std::copy(edges, end, edges_.begin() + static_cast<std::ptrdiff_t>(begin_[to])), edges_.end());
  local_[to] = local_[from];
  steady_[to] = steady_[from];
  variance_[to] = variance_[from];
  if (first_without_ > to && first_without_ <= from) first_without_ = to;
  resize(to + 1);
  if (reach_.size() > to) reach_.resize(to);
  return first;
}

void Tape::resize(std::size_t nodes) {
  local_.resize(nodes);
  steady_.resize(nodes);
  variance_.resize(nodes);
  begin_.resize(nodes);
}

void Tape::drop_from(std::size_t node) {
  if (node >= local_.size()) return;
  edges_.resize(begin_[node]);
  resize(node);
  if (first_without_ >= node) first_without_ = std::numeric_limits<std::size_t>::max();
  if (relaxed_.size() > node) relaxed_.resize(node);
  if (reach_.size() > node) reach_.resize(node);
}

void Tape::shrink(std::size_t size) {
  work_ = 0;
  drop_from(size);
}

Error Tape::error(NodeId output, std::size_t budget) {
  const auto root = static_cast<std::size_t>(output);
  // Operands are earlier nodes, which have all of theirs.
  if (root >= first_without_) return {infinity, infinity};
  if (begin_[root] == end_of(output)) return {local_[root], steady_[root] + std::sqrt(variance_[root])};
  if (work_ > budget) return {infinity, infinity};
  collect(output);
  (void)reach(output);
  adjoints_[root] = just(1);
  double error = 0;
  double steady = 0;
  double variance = 0;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    const auto n = static_cast<std::size_t>(*it);
    const Interval adjoint = adjoints_[n];
    adjoints_[n] = {};
    seen_[n] = 0;
    const std::uint32_t end = end_of(*it);
    work_ += end - begin_[n] + 1;
    if (adjoint.lower == 0 && adjoint.upper == 0) continue;
    const double size = adjoint.lower <= adjoint.upper ? adjoint.magnitude() : infinity;
    // Below what vanishes beside the rest, such as a weight of a softmax, nobody has to look.
    if (error > 0 && size * reach_[n] <= error * negligible) {
      error = wider_up(error + mul_up(size, reach_[n]));
      continue;
    }
    if (local_[n] > 0) {
      const double part = size * local_[n];
      error = wider_up(error + (has_exact_error(part) ? wider_up(part) : mul_up(size, local_[n])));
      steady += size * steady_[n];
      variance += size * size * variance_[n];
    }
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      accumulate(adjoints_[static_cast<std::size_t>(edges_[i].operand)], edges_[i].slope, adjoint);
    }
  }
  if (std::isnan(error)) return {infinity, infinity};
  return {error, steady + std::sqrt(variance)};
}

}  // namespace etalon::reference::bounds
