/// \file
/// The programs of a training run: one step with forward pass, gradient and update in one piece, and the evaluation.
/// Both read the same parameters of a store.
#pragma once

#include <cstdint>

#include "spec/program/program.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// Sizes of the training data as it lies in the store: `batches` slices of `batch` rows.
struct BatchShape {
  std::int64_t batches = 0;
  std::int64_t batch = 0;
  std::int64_t features = 0;
};

/// Names of what a step reads and writes besides the parameters.
namespace names {
inline constexpr const char* inputs = "train_inputs";     ///< f32 [batches, batch, features]
inline constexpr const char* targets = "train_targets";   ///< [batches, batch] i64, or f32 [batches, batch, 1]
inline constexpr const char* seed = "seed";
inline constexpr const char* step = "step_n";
inline constexpr const char* batch = "batch_n";
inline constexpr const char* count = "step_count";        ///< i64 scalar, the optimizer's t after the last step
inline constexpr const char* rate = "rate";
inline constexpr const char* loss = "loss";
inline constexpr const char* points = "points";           ///< f32 [rows, features], of the evaluation
inline constexpr const char* answers = "answers";
}  // namespace names

/// The optimizer's state tensor `state` of a parameter.
[[nodiscard]] std::string state_name(const std::string& parameter, const std::string& state);

/// outputs: loss and rate of the step; updates: parameters, optimizer state and step count.
[[nodiscard]] spec::Program step_program(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t steps);

/// output: the answers for `rows` points, without noise.
[[nodiscard]] spec::Program evaluation_program(const Task& task, std::int64_t rows, std::int64_t features);

}  // namespace etalon::training
