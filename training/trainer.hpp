/// \file
/// The training loop: a step and evaluations as routines over one state, fed with batches. It prints nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "spec/host_tensor.hpp"
#include "training/routine.hpp"
#include "training/routine_cache.hpp"
#include "training/state.hpp"
#include "training/step.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// What is known after a step.
struct StepRecord {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;   ///< from 0, over all epochs
  std::int64_t batch = 0;  ///< from 0, within the epoch
  double rate = 0;
  double loss = 0;
  double epoch_loss = 0;   ///< sum of the losses of this epoch so far
};

struct TrainerOptions {
  std::uint64_t seed = 1;
  std::int64_t epochs = 1;
  std::int64_t batch = 1;
  bool shuffle = true;  ///< a new order of the rows in each epoch
  unsigned threads = 1;
  std::filesystem::path cache = {};  ///< a folder that keeps compiled code for the next run; empty keeps none
  Guard guard = {};                  ///< what must be finite besides the loss, or else a step changes nothing and the run ends
};

/// Rows of inputs with one target per row: classes (i64), or numbers (f32).
struct Examples {
  std::int64_t features = 0;
  std::vector<float> inputs;
  std::vector<std::int64_t> classes;
  std::vector<float> numbers;
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(inputs.size()) / features; }
};

/// One training run. The same task, examples and options give the same bits, for any number of threads.
class Trainer {
 public:
  /// \throws SpecViolation when there are fewer rows than one batch.
  Trainer(const Task& task, Examples examples, const TrainerOptions& options);

  [[nodiscard]] std::int64_t steps() const { return shape_.batches * options_.epochs; }
  /// Runs all epochs; `after_step` is called after each step. \throws SpecViolation naming step, value and element
  /// where a loss, or what is guarded, is not finite.
  void run(const std::function<void(const StepRecord&)>& after_step);
  /// The answers of the model for these points (rows × features), with the parameters as they are now.
  [[nodiscard]] std::vector<float> answers(const std::vector<float>& points);
  /// Parameters and optimizer state.
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] RoutineReport report() const { return step_.report(); }

 private:
  void load_epoch(std::int64_t epoch);

  Task task_;
  Examples examples_;
  TrainerOptions options_;
  BatchShape shape_;
  Target target_;
  State state_;
  Routine step_;
  RoutineCache evaluations_;
};

}  // namespace etalon::training
