// Sweeps over what is known of results beyond derivative intervals: lines put into each other, from a result down.
#include <algorithm>
#include <cmath>

#include "reference/bounds/tape.hpp"

namespace etalon::reference::bounds {

void Tape::relax(const Lines& lines) {
  relaxed_.resize(local_.size(), -1);
  relaxed_.back() = static_cast<std::int32_t>(lines_.size());
  lines_.push_back(lines);
}

const Lines* Tape::lines_of(std::size_t node) const {
  if (node >= relaxed_.size() || relaxed_[node] < 0) return nullptr;
  return &lines_[static_cast<std::size_t>(relaxed_[node])];
}

double Tape::reach(NodeId node) {
  for (std::size_t n = reach_.size(); n <= static_cast<std::size_t>(node); ++n) {
    double all = n >= first_without_ ? infinity : local_[n];
    const std::uint32_t end = end_of(static_cast<NodeId>(n));
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      all = add_up(all, mul_up(edges_[i].slope.magnitude(), reach_[static_cast<std::size_t>(edges_[i].operand)]));
    }
    if (!(all < infinity)) all = infinity;
    if (const Lines* lines = lines_of(n)) all = std::min(all, lines->reach);
    reach_.push_back(all);
  }
  return reach_[static_cast<std::size_t>(node)];
}

Dependence Tape::dependence(NodeId output, NodeId on, std::size_t first) {
  if (static_cast<std::size_t>(output) < first) return output == on ? Dependence{just(1), 0} : Dependence{{}, reach(output)};
  adjoints_.resize(std::max(adjoints_.size(), local_.size()));
  adjoints_[static_cast<std::size_t>(output)] = just(1);
  Dependence found;
  for (auto n = static_cast<std::size_t>(output) + 1; n-- > first;) {
    const Interval adjoint = adjoints_[n];
    adjoints_[n] = {};
    if (adjoint.lower == 0 && adjoint.upper == 0) continue;
    if (n >= first_without_) found.error = infinity;
    found.error = add_up(found.error, mul_up(adjoint.magnitude(), local_[n]));
    const std::uint32_t end = end_of(static_cast<NodeId>(n));
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      const Edge& e = edges_[i];
      if (static_cast<std::size_t>(e.operand) >= first) accumulate(adjoints_[static_cast<std::size_t>(e.operand)], e.slope, adjoint);
      else if (e.operand == on) accumulate(found.slope, e.slope, adjoint);
      else found.error = add_up(found.error, mul_up((e.slope * adjoint).magnitude(), reach(e.operand)));
    }
  }
  return found;
}

/// Adds factor · slope to the operand's factor, the slope being within `spread`, and what that may be off to its slack.
void Tape::pass_down(NodeId operand, double factor, double slope, double spread) {
  const auto n = static_cast<std::size_t>(operand);
  const double product = mul_down(factor, slope);
  const double sum = add_down(factors_[n], product);
  double off = add_up(sub_up(mul_up(factor, slope), product), sub_up(add_up(factors_[n], product), sum));
  if (spread > 0) off = add_up(off, mul_up(std::fabs(factor), spread));
  factors_[n] = sum;
  slacks_[n] = add_up(slacks_[n], off);
}

/// Nothing of factor · (error of the output) is below it.
double Tape::least_by_lines(NodeId output, double factor) {
  factors_.resize(std::max(factors_.size(), local_.size()), 0);
  slacks_.resize(std::max(slacks_.size(), local_.size()), 0);
  factors_[static_cast<std::size_t>(output)] = factor;
  double least = 0;
  for (auto n = static_cast<std::size_t>(output) + 1; n-- > 0;) {
    const double c = factors_[n];
    const double slack = slacks_[n];
    if (c == 0 && slack == 0) continue;
    factors_[n] = slacks_[n] = 0;
    ++work_;
    if (slack > 0) least = sub_down(least, mul_up(slack, reach(static_cast<NodeId>(n))));
    if (c == 0) continue;
    if (const Lines* lines = lines_of(n)) {
      const Line& line = c > 0 ? lines->below : lines->above;
      least = add_down(least, mul_down(c, line.offset));
      if (line.slope != 0) pass_down(lines->operand, c, line.slope, 0);
      continue;
    }
    const double size = std::fabs(c);
    least = sub_down(least, mul_up(size, local_[n]));
    const std::uint32_t end = end_of(static_cast<NodeId>(n));
    work_ += end - begin_[n];
    for (std::uint32_t i = begin_[n]; i < end; ++i) {
      const Interval& slope = edges_[i].slope;
      const double middle = slope.lower + (slope.upper - slope.lower) / 2;
      pass_down(edges_[i].operand, c, middle, std::max(sub_up(slope.upper, middle), sub_up(middle, slope.lower)));
    }
  }
  return least;
}

Interval Tape::error_by_lines(NodeId output, std::size_t budget) {
  if (static_cast<std::size_t>(output) >= first_without_ || work_ > budget) return {-infinity, infinity};
  const double below = least_by_lines(output, 1);
  const double above = -least_by_lines(output, -1);
  // What overflowed on the way says nothing.
  return {below > -infinity ? below : -infinity, above < infinity ? above : infinity};
}

}  // namespace etalon::reference::bounds
