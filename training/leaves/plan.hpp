/// \file
/// Which device of which process computes which leaves of a step, and what it then sends. It runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/program/program.hpp"
#include "training/leaves/tree_sum.hpp"
#include "training/step.hpp"

namespace etalon::training {

/// The part of one device. Device 0 of a process joins what the others of it send.
struct DevicePart {
  LeafRange leaves;             ///< side by side; none where there are more devices than leaves
  std::vector<LeafRange> sent;  ///< nodes of the tree that it sends to device 0 of its rank in a step, ascending
};

struct LeafPlan {
  BatchShape shape;
  std::int64_t epochs = 0;
  std::vector<DevicePart> devices;  ///< those of rank 0, then those of rank 1, …
  int ranks = 1;                    ///< processes, with as many devices each
  bool is_update_cut = false;       ///< each rank updates its slice of the parameters
  std::size_t node_bytes = 0;  ///< of a loss and a gradient by every trained parameter

  [[nodiscard]] std::size_t nodes_sent() const;  ///< in a step, within ranks
  [[nodiscard]] std::size_t devices_each() const { return devices.size() / static_cast<std::size_t>(ranks); }
  /// Side by side; none where there are more ranks than leaves.
  [[nodiscard]] LeafRange leaves_of(int rank) const;
  [[nodiscard]] std::size_t bytes_sent() const { return nodes_sent() * node_bytes; }
};

/// \param leaf as leaf_program writes it \param devices of each rank \throws SpecViolation for no devices or ranks.
[[nodiscard]] LeafPlan plan_of(const spec::Program& leaf, const BatchShape& shape, std::int64_t epochs,
                               unsigned devices, int ranks = 1);

/// Lines for people: steps and leaves, a line for each device, what is sent per step.
[[nodiscard]] std::string to_text(const LeafPlan& plan);

}  // namespace etalon::training
