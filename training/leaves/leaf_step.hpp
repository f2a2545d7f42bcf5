/// \file
/// A step whose batch is computed leaf by leaf, by one device or several at the same time, of one process or several, and
/// joined into one update. Which device has which leaf changes no bit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "training/guard.hpp"
#include "training/leaves/plan.hpp"
#include "training/leaves/tree_sum.hpp"
#include "training/outcome.hpp"
#include "training/ranks/ranked_update.hpp"
#include "training/routine.hpp"
#include "training/target.hpp"
#include "training/task.hpp"

namespace etalon::training {

/// Which step of a run.
struct StepPosition {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t batch = 0;  ///< from 0, within the epoch
};

/// One device: the leaf program with memory of its own. It reads parameters and data of a store that others read, too.
class LeafDevice {
 public:
  /// \param leaf as leaf_program, made ready
  LeafDevice(const Prepared& leaf, compiled::Store& store, LeafRange leaves, const BatchShape& shape,
             const Guard& guard);

  /// What its leaves came to: the outcome of the first one that did not complete, with the leaf in its reason, or else
  /// that of the last one; and the sums of its leaves.
  struct Result {
    Outcome outcome;
    std::vector<SumNode> nodes;
  };
  [[nodiscard]] Result compute(const StepPosition& at);
  [[nodiscard]] RoutineReport report() const { return routine_->report(); }
  [[nodiscard]] const spec::Program& program() const { return routine_->program(); }

 private:
  std::unique_ptr<Routine> routine_;
  LeafRange leaves_;
  BatchShape shape_;
};

class LeafStep {
 public:
  /// Compiles both programs. The store outlives it. \param guard values of the forward pass are judged leaf by leaf,
  /// before anything is updated \param ranks null: this process computes all leaves
  /// \throws SpecViolation as leaf_program, plan_of and Routine::guard.
  LeafStep(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs, const Target& target,
           compiled::Store& store, unsigned devices, const Guard& guard, const std::shared_ptr<Ranks>& ranks = nullptr);

  /// One step; its outcome is that of the update, or of the first leaf that did not complete: then nothing was updated.
  [[nodiscard]] Outcome run(const StepPosition& at);
  [[nodiscard]] const LeafPlan& plan() const { return plan_; }
  /// What the program of a leaf holds on one device.
  [[nodiscard]] RoutineReport report() const { return devices_[0].report(); }
  [[nodiscard]] const spec::Program& leaf() const { return devices_[0].program(); }
  [[nodiscard]] const spec::Program& update() const { return ranked_ ? ranked_->program() : update_->program(); }
  /// What is the other ranks' business, too; null in one process.
  [[nodiscard]] RankedUpdate* ranked() { return ranked_.get(); }

 private:
  [[nodiscard]] std::vector<LeafDevice::Result> compute_leaves(const StepPosition& at);
  [[nodiscard]] std::vector<SumNode> added(std::vector<LeafDevice::Result> received) const;

  LeafPlan plan_;
  std::vector<LeafDevice> devices_;
  std::unique_ptr<Routine> update_;
  std::unique_ptr<RankedUpdate> ranked_;  ///< in its place
  std::vector<std::string> sums_;  ///< inputs of the update, in the order of a leaf's outputs
  bool settled_ = false;           ///< the store's entries lie as the leaf program likes them
};

}  // namespace etalon::training
