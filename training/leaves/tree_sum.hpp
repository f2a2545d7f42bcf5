/// \file
/// Sums of what the leaves of a step give, in the one order that a tree over their numbers fixes, whoever has which of
/// them. It knows no program and no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"

namespace etalon::training {

/// Leaves first, …, end - 1.
struct LeafRange {
  std::int64_t first = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t count() const { return end - first; }
  [[nodiscard]] friend bool operator==(const LeafRange&, const LeafRange&) = default;
};

/// What leaves give: tensors of f32 or f64, always the same ones in the same order.
using Summands = std::vector<HostTensor>;

/// A node of the tree with the sum of its leaves.
struct SumNode {
  LeafRange leaves;
  Summands sum;
};

/// Where a node's left half ends: as many leaves as the largest power of two below their number lie in it.
[[nodiscard]] std::int64_t middle_of(LeafRange node);

/// The largest nodes of the tree over `leaves` leaves that lie in the range, ascending: at most two for each of its
/// levels. \throws SpecViolation for a range that is not of these leaves.
[[nodiscard]] std::vector<LeafRange> largest_nodes(LeafRange range, std::int64_t leaves);

/// Adds nodes of the tree T over `leaves` leaves, T(a, b) = T(a, m) + T(m, b) with m the middle. What is given lies
/// side by side, ascending; halves of one node are added as soon as both are there. So what is held is the largest
/// nodes of the range given so far, and the sum of all leaves has the same bits however they came together.
class TreeSum {
 public:
  /// \throws SpecViolation for fewer leaves than one.
  explicit TreeSum(std::int64_t leaves);

  /// \throws SpecViolation for what is no node, does not begin where the last one ended, or has tensors of other types
  /// than those before; nothing is added then.
  void add(SumNode node);
  /// What is held, ascending.
  [[nodiscard]] const std::vector<SumNode>& nodes() const { return held_; }
  /// The same, handed over; it holds nothing afterwards.
  [[nodiscard]] std::vector<SumNode> take();
  /// The sum of all leaves, handed over. \throws SpecViolation where leaves are missing.
  [[nodiscard]] Summands take_root();

 private:
  [[nodiscard]] std::optional<LeafRange> parent(LeafRange node) const;
  void require_next(const SumNode& node) const;
  [[nodiscard]] bool ends_in_halves() const;

  std::int64_t leaves_;
  std::vector<SumNode> held_;
};

/// \throws SpecViolation unless elements of that type can be added: f32 and f64. \param name stands in the message
void require_summable(DType dtype, const std::string& name);

}  // namespace etalon::training
