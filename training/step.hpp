/// \file
/// The programs of a training run: one step with forward pass, gradient and update in one piece, and the evaluation.
/// Both read the same parameters of a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "spec/program/program.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// Sizes of the training data as it lies in the store: `batches` times `leaves` slices of `grain()` rows.
struct BatchShape {
  std::int64_t batches = 0;   ///< of an epoch
  std::int64_t batch = 0;     ///< rows
  std::int64_t features = 0;
  std::int64_t leaves = 1;    ///< parts of a batch, of which each has a run of its own
  std::int64_t labels = 1;    ///< of a row

  [[nodiscard]] std::int64_t grain() const { return batch / leaves; }
  [[nodiscard]] std::int64_t slices() const { return batches * leaves; }
};

/// Names of what a step reads and writes besides the parameters.
namespace names {
inline constexpr const char* inputs = "train_inputs";     ///< f32 [slices, grain, features]
inline constexpr const char* targets = "train_targets";   ///< [slices, grain] or [slices, grain, labels] i64, or f32 [slices, grain, 1]
inline constexpr const char* seed = "seed";
inline constexpr const char* epoch = "epoch_n";
inline constexpr const char* batch = "batch_n";
inline constexpr const char* count = "step_count";        ///< i64 scalar, the optimizer's t after the last step
inline constexpr const char* rate = "rate";
inline constexpr const char* loss = "loss";
inline constexpr const char* points = "points";           ///< f32 [rows, features], of the evaluation
inline constexpr const char* wanted = "wanted";           ///< of it, what the points are to be answered with: as targets of one slice
inline constexpr const char* answers = "answers";
}  // namespace names

/// The traced values of parameters by name, declared in the program in the order of the model.
[[nodiscard]] Task::Values declare_parameters(spec::Tracer& tracer, const Parameters& parameters);

/// The updates of a step whose gradients are known, whatever its data: parameters, optimizer state and step count.
/// \param before the step count before it
/// \param guard where it is not finite, nothing changes, the step count included
/// \param rate of the step, given its number from 1
/// \returns the rate
Traced write_updates(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values,
                     std::vector<Traced> gradients, const Traced& before, const std::optional<Traced>& guard,
                     const std::function<Traced(const Traced& count)>& rate);

/// What is trained on, as inputs of a program.
struct TracedData {
  Traced inputs;
  Traced targets;
};
/// The extents of the targets of some rows, and of all as they lie in the store.
[[nodiscard]] Dims target_dims(std::int64_t rows, std::int64_t labels, DType target_dtype);
[[nodiscard]] Dims target_dims(const BatchShape& shape, DType target_dtype);
[[nodiscard]] TracedData declare_data(spec::Tracer& tracer, const BatchShape& shape, DType target_dtype);

/// The scale of the loss, declared in the program, where there is one.
[[nodiscard]] std::optional<LossScale> declare_loss_scale(spec::Tracer& tracer, const Optimization& optimization);

/// What a number of leaves gave together.
struct LeafSums {
  Traced loss;
  std::vector<Traced> gradients;  ///< of the loss times the scale, in the order of the optimization's entries
  std::optional<LossScale> scale{};
  std::int64_t leaves = 1;
};
/// The updates of a step: one multiplication by 1/leaves, the decision about the scale, the optimizer. Guarded by loss and
/// gradients; loss, rate and, where the loss is scaled, the verdict are outputs. \param before, rate as for write_updates
void write_joined(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values, const LeafSums& sums,
                  const Traced& before, const std::function<Traced(const Traced& count)>& rate);

/// Gradients and updates of a loss that was traced from `values`, guarded by it; loss and rate are outputs.
void write_step(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values, const Traced& loss,
                const Traced& before, const std::function<Traced(const Traced& count)>& rate);

/// outputs: loss and rate of the step; updates: parameters, optimizer state and step count. Its indices are the epoch
/// and the batch, both from 0. \param shape has one leaf a batch
[[nodiscard]] spec::Program step_program(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs);

/// How many numbers the model answers to one row.
[[nodiscard]] std::int64_t answers_per_row(const Task& task, std::int64_t features);

/// output: the answers for `rows` points, without noise; where the type of what is wanted is given, their loss as well.
[[nodiscard]] spec::Program evaluation_program(const Task& task, std::int64_t rows, std::int64_t features,
                                               const std::optional<spec::ValueType>& wanted = {});

}  // namespace etalon::training
