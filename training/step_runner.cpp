#include "training/step_runner.hpp"

#include <utility>

#include "training/step.hpp"

namespace etalon::training {

namespace {

Routine whole(const Task& task, const StepRunner::Options& options, const Target& target, State& state) {
  Routine step(step_program(task, options.shape, options.target_dtype, options.epochs), target, state.store());
  step.watch(names::loss).guard(options.guard);
  return step;
}

std::variant<Routine, LeafStep> way_of(const Task& task, const StepRunner::Options& options, const Target& target,
                                       State& state) {
  if (options.shape.leaves == 1) return whole(task, options, target, state);
  return LeafStep(task, options.shape, options.target_dtype, options.epochs, target, state.store(), options.devices,
                  options.guard, options.ranks);
}

}  // namespace

StepRunner::StepRunner(const Task& task, const Options& options, const Target& target, State& state)
    : way_(way_of(task, options, target, state)) {}

Outcome StepRunner::run(const StepPosition& at) {
  if (auto* leaves = std::get_if<LeafStep>(&way_)) return leaves->run(at);
  Routine& step = std::get<Routine>(way_);
  step.bind(names::epoch, at.epoch);
  step.bind(names::batch, at.batch);
  return step.run();
}

RankedUpdate* StepRunner::ranked() {
  auto* leaves = std::get_if<LeafStep>(&way_);
  return leaves == nullptr ? nullptr : leaves->ranked();
}

RoutineReport StepRunner::report() const {
  return std::visit([](const auto& way) { return way.report(); }, way_);
}

std::vector<spec::Program> StepRunner::programs() const {
  if (const auto* leaves = std::get_if<LeafStep>(&way_)) return {leaves->leaf(), leaves->update()};
  return {std::get<Routine>(way_).program()};
}

}  // namespace etalon::training
