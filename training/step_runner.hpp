/// \file
/// How a trainer computes a step: as one program, or in leaves. It knows no data set and no schedule of steps.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "training/leaves/leaf_step.hpp"
#include "training/outcome.hpp"
#include "training/routine.hpp"
#include "training/state.hpp"
#include "training/target.hpp"
#include "training/task.hpp"

namespace etalon::training {

class StepRunner {
 public:
  struct Options {
    BatchShape shape;
    DType target_dtype = DType::f32;
    std::int64_t epochs = 1;
    unsigned devices = 1;  ///< that compute leaves at the same time; a batch of one leaf needs one
    Guard guard = {};
    std::shared_ptr<Ranks> ranks = nullptr;  ///< that share the leaves; a batch of one leaf is rank 0's alone
  };

  /// Compiles. The state's store has the data under names::inputs and names::targets before the first step.
  /// \throws SpecViolation as step_program, LeafStep and Routine::guard.
  StepRunner(const Task& task, const Options& options, const Target& target, State& state);

  /// One step, guarded; it is not finite where the loss is not. \throws SpecViolation for a position out of range.
  [[nodiscard]] Outcome run(const StepPosition& at);
  /// What is the other ranks' business, too; null where there are none, or one leaf.
  [[nodiscard]] RankedUpdate* ranked();
  /// The program that has the forward pass.
  [[nodiscard]] RoutineReport report() const;
  /// As step_programs.
  [[nodiscard]] std::vector<spec::Program> programs() const;

 private:
  std::variant<Routine, LeafStep> way_;
};

}  // namespace etalon::training
