/// \file
/// The training loop: a step and evaluations as routines over one state, fed with batches. It prints nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "training/data/dataset.hpp"
#include "training/routine_cache.hpp"
#include "training/state.hpp"
#include "training/step.hpp"
#include "training/step_runner.hpp"
#include "training/task.hpp"

namespace etalon::compiled {
class Device;
}

namespace etalon::training {

/// What is known after a step.
struct StepRecord {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;   ///< from 0, over all epochs
  std::int64_t batch = 0;  ///< from 0, within the epoch
  double rate = 0;
  double loss = 0;
  double epoch_loss = 0;   ///< sum of the losses of this epoch so far
  std::optional<double> validation_accuracy{};  ///< after the last step of an epoch, where there are rows with labels for it
  std::optional<double> validation_loss{};      ///< of all rows for it, at the same time
  bool kept = false;  ///< a gradient was not finite: the scale of the loss was halved, and nothing else changed
};

struct TrainerOptions {
  std::uint64_t seed = 1;
  std::int64_t epochs = 1;
  std::int64_t batch = 1;
  bool shuffle = true;  ///< a new order of the rows in each epoch
  unsigned threads = 1;
  std::filesystem::path cache = {};  ///< a folder that keeps compiled code for the next run; empty keeps none
  Guard guard = {};                  ///< what must be finite besides the loss, or else a step changes nothing and the run ends
  std::shared_ptr<compiled::Device> device = nullptr;  ///< where steps run; null: the processor
  std::int64_t grain = 0;  ///< rows of a leaf, which divide the batch; it belongs to the run, as the seed does. 0: the batch
  unsigned devices = 1;    ///< that compute leaves at the same time; no bit depends on them. More than 1 on the processor only
  std::shared_ptr<Ranks> ranks = nullptr;  ///< processes that compute leaves together, all with these options; no bit depends on them. Null: alone
};

/// How the steps of such a run would be computed; nothing is compiled or run.
/// \throws SpecViolation as Trainer does for what rows and options ask for.
[[nodiscard]] LeafPlan plan_of(const Task& task, const Dataset& rows, const TrainerOptions& options, int ranks = 1);

/// One training run. The same task, rows and options give the same bits, for any number of threads and devices.
class Trainer {
 public:
  /// \param validation rows that nothing is learned from, with labels or numbers as the others
  /// \throws SpecViolation when there are fewer rows than one batch, a grain does not divide it, as require_sound, or where
  /// data has more classes than the model has answers for; otherwise as StepRunner.
  Trainer(const Task& task, Dataset rows, const TrainerOptions& options, Dataset validation = {});

  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] const Dataset& rows() const { return rows_; }
  [[nodiscard]] const TrainerOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t steps() const { return shape_.batches * options_.epochs; }
  /// Runs all epochs, on rank 0 where there are several; `after_step` is called after each step. \throws SpecViolation naming step, value and element
  /// where a loss, of validation too, or what is guarded, is not finite.
  void run(const std::function<void(const StepRecord&)>& after_step);
  /// Runs the steps from `first` on, of a state that is the one before it: the bits of a step do not depend on whether those before it ran
  /// here. `after_step` says whether to go on. \param epoch_loss of the steps before `first` in its epoch \throws as run
  void run_from(std::int64_t first, double epoch_loss, const std::function<bool(const StepRecord&)>& after_step);
  /// From now on steps of `run` and `run_from` are computed by this: it is given the step's number, from 0, and what computes
  /// it on the state as it is, and answers with the outcome that counts.
  using Around = std::function<Outcome(std::int64_t step, const std::function<Outcome()>& compute)>;
  void surround(Around around) { around_ = std::move(around); }
  /// One step of that number, from 0, on the state as it is, whatever came of it.
  [[nodiscard]] Outcome compute(std::int64_t step);
  /// Of the ranks other than 0: does what rank 0 needs of it for its steps, until it says that there is no more. Training begins with
  /// rank 0's state.
  void follow();
  /// All of the state, after it was compared with that of the other ranks. \throws NotRepeated where it is not the same: with the rank
  [[nodiscard]] Named settled_state();
  /// As step_programs.
  [[nodiscard]] std::vector<spec::Program> programs() const { return steps_.programs(); }
  /// What one of them is given in that step, in the order of its inputs. \param leaf of the step \param sums that an update is given
  [[nodiscard]] std::vector<HostTensor> inputs_of(const spec::Program& program, std::int64_t step, std::int64_t leaf = 0, const Named& sums = {});
  [[nodiscard]] std::int64_t leaves() const { return shape_.leaves; }  ///< of a step
  /// Rows of each epoch that fill no batch: other ones in each where they are shuffled.
  [[nodiscard]] std::int64_t dropped() const { return rows_.rows() - shape_.batches * shape_.batch; }
  /// The answers of the model for these points (rows × features), with the parameters as they are now.
  /// \throws SpecViolation for a part of a row.
  [[nodiscard]] std::vector<float> answers(const std::vector<float>& points);
  /// The class with the largest answer for each of these points, or each label of them.
  [[nodiscard]] std::vector<std::int64_t> classes(const std::vector<float>& points);
  /// The share of labels that are it. \throws SpecViolation as require_sound, or for rows without labels.
  [[nodiscard]] double accuracy(const Dataset& rows);
  /// The loss of rows with labels. \throws as accuracy
  [[nodiscard]] double loss(const Dataset& rows);
  [[nodiscard]] std::int64_t steps_of_epoch() const { return shape_.batches; }
  /// Parameters and optimizer state.
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] RoutineReport report() const { return steps_.report(); }
  /// The programs of a step.
  [[nodiscard]] std::string step_text() const;

 private:
  void load_epoch(std::int64_t epoch);
  [[nodiscard]] StepPosition loaded(std::int64_t step);
  [[nodiscard]] Ranks* others();
  [[nodiscard]] Outcome together(const StepPosition& at);
  [[nodiscard]] Outcome surrounded(const StepPosition& at);
  void gather_state();
  void hand_out_state();
  [[nodiscard]] std::vector<Bytes> digests();
  [[nodiscard]] StepRecord record_of(const StepPosition& at, const Outcome& outcome) const;
  [[nodiscard]] Outcome evaluate(const Dataset& rows);
  void validate(StepRecord& record);

  Task task_;
  Dataset rows_;
  Dataset validation_;
  TrainerOptions options_;
  BatchShape shape_;
  Target target_;
  State state_;
  StepRunner steps_;
  RoutineCache evaluations_;
  bool is_handed_out_ = false;  ///< the other ranks have this one's state
  Around around_;
  std::int64_t epoch_ = 0;  ///< whose rows are in the store, from 1
};

}  // namespace etalon::training
