/// \file
/// Which device computes which leaves of a step, and what it then sends. It runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/program/program.hpp"
#include "training/leaves/tree_sum.hpp"
#include "training/step.hpp"

namespace etalon::training {

/// The part of one device. Device 0 joins what the others send, and updates.
struct DevicePart {
  LeafRange leaves;             ///< side by side; none where there are more devices than leaves
  std::vector<LeafRange> sent;  ///< nodes of the tree that it sends to device 0 in a step, ascending
};

struct LeafPlan {
  BatchShape shape;
  std::int64_t epochs = 0;
  std::vector<DevicePart> devices;
  std::size_t node_bytes = 0;  ///< of a loss and a gradient by every trained parameter

  [[nodiscard]] std::size_t nodes_sent() const;  ///< in a step
  [[nodiscard]] std::size_t bytes_sent() const { return nodes_sent() * node_bytes; }
};

/// \param leaf as leaf_program writes it \throws SpecViolation for no devices.
[[nodiscard]] LeafPlan plan_of(const spec::Program& leaf, const BatchShape& shape, std::int64_t epochs,
                               unsigned devices);

/// Lines for people: steps and leaves, a line for each device, what is sent per step.
[[nodiscard]] std::string to_text(const LeafPlan& plan);

}  // namespace etalon::training
