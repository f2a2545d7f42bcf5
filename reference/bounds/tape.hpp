/// \file
/// The inexact scalar operations of one evaluation: local errors and derivative intervals towards their inexact
/// operands, and the adjoint sweep that adds them up (Theorem 3); where they are kept, lines between which a result lies, and
/// the sweep that puts them into each other. It knows no values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "reference/bounds/interval.hpp"

namespace etalon::reference::bounds {

using NodeId = std::int32_t;
inline constexpr NodeId no_node = -1;

/// d(result)/d(operand) lies in the interval wherever the operands may lie.
struct Edge {
  NodeId operand = no_node;
  Interval slope;
};

/// offset + slope · (error of an operand).
struct Line {
  double slope = 0;
  double offset = 0;
};

/// The error of a result is not below one line in the error of one operand, nor above the other, nor larger than `reach`.
struct Lines {
  NodeId operand = no_node;
  Line below, above;
  double reach = infinity;
};

/// The result lies within `error` of something whose derivative by an earlier error is in the interval.
struct Dependence {
  Interval slope;
  double error = 0;
};

/// How far a result may be off, and how far it typically is.
struct Error {
  double bound = 0;      ///< no conforming evaluation is further off
  double deviation = 0;  ///< statistical: roundings of one sum taken as independent, all others as the worst
};

class Tape {
 public:
  /// Room for a sum of 8000 terms for each of 8000 elements, in 1.5 GiB.
  static constexpr std::size_t usual_room = std::size_t{1} << 26U;

  /// \param most_edges that are kept; of nodes that would need more nothing is known
  explicit Tape(std::size_t most_edges = usual_room) : most_edges_(most_edges) {}

  /// Opens a node whose edges follow by `edge`; operands are earlier nodes.
  NodeId open(double local_error) { return open(local_error, local_error, 0); }
  /// The same for a sum: besides the bound what is worst of its terms, and the standard deviation of its additions.
  NodeId open(double local_error, double steady, double spread) {
    local_.push_back(local_error);
    steady_.push_back(steady);
    variance_.push_back(spread * spread);
    begin_.push_back(static_cast<std::uint32_t>(edges_.size()));
    return static_cast<NodeId>(local_.size() - 1);
  }
  void edge(const Edge& e) {
    if (e.operand < passing_ || !fold(e)) record(e);
  }

  /// Nodes from here on pass: each is operand of at most one other, which may take over what it knows.
  void begin_passing() {
    passing_ = static_cast<NodeId>(local_.size());
    referred_ = false;
  }
  /// Ends that. Of the nodes that passed only this one, if it is one, is needed further; returns its place.
  NodeId end_passing(NodeId kept);

  [[nodiscard]] std::size_t size() const { return local_.size(); }
  /// Takes back all nodes but the first `size`, and forgets the work of earlier sweeps.
  void shrink(std::size_t size);

  /// sum over the nodes k below `output` of sup|d output / d k| · (local error of k); infinite when the work done by
  /// all sweeps so far exceeds `budget` edges, or when there was no room for all edges below it.
  [[nodiscard]] Error error(NodeId output, std::size_t budget);
  [[nodiscard]] std::size_t work() const { return work_; }

  /// From now on those who know lines note them.
  void keep_lines() { keeps_lines_ = true; }
  [[nodiscard]] bool keeps_lines() const { return keeps_lines_; }
  /// Notes lines of the node that was opened last.
  void relax(const Lines& lines);
  /// The interval of a node's error where nodes with lines lie between these, and others follow their edges.
  /// The errors of all nodes with lines must have them from the same operands as their edges. Infinite beyond `budget`.
  [[nodiscard]] Interval error_by_lines(NodeId output, std::size_t budget);
  /// How an output depends on an earlier node, for nodes from `first` on; all others below it count by their reach.
  [[nodiscard]] Dependence dependence(NodeId output, NodeId on, std::size_t first);
  /// No error of the node is larger.
  [[nodiscard]] double reach(NodeId node);
  /// Takes back all nodes but the first `size`.
  void take_back(std::size_t size) { drop_from(size); }

 private:
  void collect(NodeId output);
  [[nodiscard]] const Lines* lines_of(std::size_t node) const;
  [[nodiscard]] double least_by_lines(NodeId output, double factor);
  void pass_down(NodeId operand, double factor, double slope, double spread);
  void record(const Edge& e) {
    if (edges_.size() < most_edges_) edges_.push_back(e);
    else first_without_ = std::min(first_without_, local_.size() - 1);
  }
  bool fold(const Edge& e);
  void resize(std::size_t nodes);
  void drop_from(std::size_t node);
  [[nodiscard]] std::uint32_t end_of(NodeId n) const {
    const auto next = static_cast<std::size_t>(n) + 1;
    return next < begin_.size() ? begin_[next] : static_cast<std::uint32_t>(edges_.size());
  }

  static constexpr NodeId nothing_passes = std::numeric_limits<NodeId>::max();

  std::vector<double> local_, steady_, variance_;
  std::vector<std::uint32_t> begin_;
  std::vector<Edge> edges_;
  std::vector<std::uint8_t> seen_;
  std::vector<Interval> adjoints_;
  std::vector<NodeId> order_;
  std::vector<std::pair<NodeId, std::uint32_t>> stack_;
  NodeId passing_ = nothing_passes;  ///< the first node that passes
  bool referred_ = false;            ///< whether one of them is an operand still
  std::size_t work_ = 0;
  bool keeps_lines_ = false;
  std::vector<Lines> lines_;
  std::vector<std::int32_t> relaxed_;     ///< per node, the position of its lines or -1; shorter where the last nodes have none
  std::vector<double> reach_;             ///< of the first nodes, as far as anybody asked
  std::vector<double> factors_, slacks_;  ///< of a sweep by lines: each factor is within its slack
  std::size_t most_edges_;
  std::size_t first_without_ = std::numeric_limits<std::size_t>::max();  ///< of the nodes, that lacks an edge
};

}  // namespace etalon::reference::bounds
