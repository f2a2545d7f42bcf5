/// \file
/// What each kernel of a plan reads and writes, and which bytes of the arena hold something while it runs. It decides
/// nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Kernels by their numbers in the plan, ascending; each tensor and kernel once.
struct Flow {
  std::vector<std::vector<TensorId>> reads;       ///< per kernel
  std::vector<std::vector<TensorId>> writes;      ///< per kernel
  std::vector<std::vector<std::size_t>> readers;  ///< per tensor
  std::vector<std::vector<std::size_t>> writers;  ///< per tensor

  static constexpr std::size_t never = static_cast<std::size_t>(-1);
  /// The last kernel that reads or writes the tensor; `never` where none does.
  [[nodiscard]] std::size_t last_use(TensorId t) const;
};

[[nodiscard]] Flow flow_of(const spec::System& system, const std::vector<Kernel>& kernels);

/// Bytes of the arena that hold something while each kernel runs.
[[nodiscard]] std::vector<std::size_t> live_bytes(const spec::System& system, const Plan& plan, const Flow& flow);

/// Scalar operations of a statement's equation, roughly.
[[nodiscard]] double operations_of(const spec::Equation& equation);

}  // namespace etalon::compiled
