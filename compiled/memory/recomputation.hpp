/// \file
/// One value that is computed again: which statements that takes, and a plan in which it is so. It does not choose the value.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiled/ir/flow.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// Copies of values: copy -> the value that the program names.
using Copies = std::map<TensorId, TensorId>;

/// What it takes to compute a value again before a kernel.
struct Again {
  TensorId value = -1;
  std::size_t peak = 0;                                  ///< the kernel during which it shall not be live
  std::size_t before = 0;                                ///< its first reader after that
  std::map<std::size_t, std::set<std::size_t>> wanted;   ///< per kernel, positions of its statements that run again
  std::map<TensorId, TensorId> instead;                  ///< tensors that those read -> the copies of them that are there
  std::size_t bytes = 0;                                 ///< saved at the peak
  double operations = 0;
  [[nodiscard]] double cost() const { return operations / static_cast<double>(bytes); }
};

/// How `value`, which is idle at kernel `peak`, is computed again after it. What it is computed from is read where it is still
/// there, kept longer where it is small, and else computed again too. Nothing where something cannot be, or no byte would be saved.
[[nodiscard]] std::optional<Again> ask_again(const spec::System& system, const Plan& plan, const Flow& flow, const Copies& copies,
                                             TensorId value, std::size_t peak);

/// Does so: adds equations and kernels, lets later readers read the copies, and drops what nobody reads any more. The homes are to be
/// assigned anew.
void compute_again(spec::System& system, Plan& plan, const Flow& flow, Copies& copies, const Again& again);

}  // namespace etalon::compiled
