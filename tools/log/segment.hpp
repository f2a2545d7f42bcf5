/// \file
/// A system cut where values are held, into pieces that are computed from held values alone: what a log of the held
/// values can be computed anew from, and judged by. It knows no program and no numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::logging {

/// The equations between held tensors and the next one; those of a recurrence come together.
struct Segment {
  std::vector<spec::TensorId> targets;  ///< held tensors of the whole, the outputs of `system` in order
  std::vector<spec::TensorId> sources;  ///< held tensors and inputs of the whole, the inputs of `system` in order
  std::vector<std::size_t> equations;   ///< of the whole, ascending
  spec::System system;
};

/// One segment for every held tensor that has equations, in an order in which each is computed from inputs and from the
/// targets of earlier ones. What is not held is computed in each segment that needs it.
/// \param held per tensor of the system; inputs need no mark.
[[nodiscard]] std::vector<Segment> segments(const spec::System& system, const std::vector<bool>& held);

/// The same equations with every sum computed once for the elements that it does depend on: the values are the same, and
/// take less long.
[[nodiscard]] spec::System with_shared_reductions(spec::System system);

/// Times that expressions are evaluated, at most: what a guard leaves out counts.
[[nodiscard]] double evaluations(const spec::System& system);

}  // namespace etalon::logging
