/// \file
/// A training step in two programs: one that each leaf of a batch runs, whose outputs add, and one that updates by the
/// sums. Which device runs a leaf, and in which order sums are formed, is not known here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/program/program.hpp"
#include "training/step.hpp"
#include "training/task.hpp"

namespace etalon::training {

namespace names {
inline constexpr const char* leaf = "leaf_n";        ///< index of the leaf in its batch, from 0
inline constexpr const char* loss_sum = "loss_sum";  ///< input of the update: the losses of all leaves, added
}  // namespace names

/// The input of the update that takes a parameter's gradients of all leaves, added.
[[nodiscard]] std::string gradient_sum_name(const std::string& parameter);

/// Outputs: the loss of the leaf's rows, then its gradient by each trained parameter in their order. It updates
/// nothing. Its indices are the epoch, the batch and the leaf, all from 0; random operations of leaf j of step n take
/// the step n·leaves + j. \throws SpecViolation: the forward pass updates something itself, named, which leaves would
/// do one after another; there are 2^32 leaves or more in the run; a gradient cannot be added (require_summable).
[[nodiscard]] spec::Program leaf_program(const Task& task, const BatchShape& shape, DType target_dtype,
                                         std::int64_t epochs);

/// Inputs: `loss_sum` and the sums of gradients; indices, outputs and updates are those of step_program.
/// \param loss_dtype the loss's
[[nodiscard]] spec::Program update_program(const Task& task, const BatchShape& shape, DType loss_dtype,
                                           std::int64_t epochs);

/// The programs that a step is: one where it has one leaf, else the leaf's and the update's.
[[nodiscard]] std::vector<spec::Program> step_programs(const Task& task, const BatchShape& shape, DType target_dtype,
                                                       std::int64_t epochs);
/// Their texts, one after the other with an empty line between.
[[nodiscard]] std::string step_text(const std::vector<spec::Program>& programs);
/// As step_text wrote them. \param count of them \throws SpecViolation as parse_program, and for another number
[[nodiscard]] std::vector<spec::Program> parse_step(const std::string& text, std::size_t count);

}  // namespace etalon::training
