#include "training/leaves/leaf_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "spec/error.hpp"
#include "training/leaves/programs.hpp"

namespace etalon::training {

namespace {

/// What the update's outputs are is judged there; the rest of a guard's values belongs to the leaves.
Guard part_of(const Guard& guard, const spec::Program& update, bool of_update) {
  Guard part{{}, of_update && guard.updates};
  for (const std::string& value : guard.values) {
    const bool there = std::ranges::find(update.outputs, value) != update.outputs.end();
    if (there == of_update) part.values.push_back(value);
  }
  return part;
}

Summands tensors_of(NamedValues& outputs) {
  Summands tensors;
  for (auto& [name, value] : outputs) tensors.push_back(std::move(value));
  return tensors;
}

void bind_step(Routine& routine, const StepPosition& at) {
  routine.bind(names::epoch, at.epoch);
  routine.bind(names::batch, at.batch);
}

}  // namespace

LeafDevice::LeafDevice(const Prepared& leaf, compiled::Store& store, LeafRange leaves, const BatchShape& shape,
                       const Guard& guard)
    : routine_(std::make_unique<Routine>(leaf, store)), leaves_(leaves), shape_(shape) {
  routine_->guard(guard);
}

LeafDevice::Result LeafDevice::compute(const StepPosition& at) {
  Result result;
  TreeSum sum(shape_.leaves);
  bind_step(*routine_, at);
  for (std::int64_t leaf = leaves_.first; leaf < leaves_.end; ++leaf) {
    routine_->bind(names::leaf, leaf);
    result.outcome = routine_->run();
    if (!result.outcome.completed()) {
      result.outcome.why = fmt::format("leaf {}: {}", leaf, result.outcome.why);
      return result;
    }
    sum.add({{leaf, leaf + 1}, tensors_of(result.outcome.outputs)});
  }
  result.nodes = sum.take();
  return result;
}

LeafStep::LeafStep(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs,
                   const Target& target, compiled::Store& store, unsigned devices, const Guard& guard,
                   const std::shared_ptr<Ranks>& ranks) {
  const spec::Program leaf = leaf_program(task, shape, target_dtype, epochs);
  const spec::Program update = update_program(task, shape, spec::types_of(leaf).at(names::loss).dtype, epochs);
  plan_ = plan_of(leaf, shape, epochs, devices, ranks ? ranks->count() : 1);
  const Prepared ready(leaf, target);
  const std::size_t first = ranks ? static_cast<std::size_t>(ranks->rank()) * devices : 0;
  for (std::size_t d = first; d < first + devices; ++d)
    devices_.emplace_back(ready, store, plan_.devices[d].leaves, shape, part_of(guard, update, false));
  const Guard of_update = part_of(guard, update, true);
  sums_.emplace_back(names::loss_sum);
  const Optimization optimization = task.optimization();
  for (const auto& entry : optimization.entries()) sums_.push_back(gradient_sum_name(entry.name));
  if (ranks) {
    ranked_ = std::make_unique<RankedUpdate>(RankedUpdate::Setting{ranks, plan_, leaf, update, target, store, of_update});
    return;
  }
  update_ = std::make_unique<Routine>(update, target, store);
  update_->watch(names::loss).guard(of_update);
}

std::vector<LeafDevice::Result> LeafStep::compute_leaves(const StepPosition& at) {
  // The first run on a store decides how parameters lie there, and has them to itself.
  const std::launch others = settled_ ? std::launch::async : std::launch::deferred;
  std::vector<std::future<LeafDevice::Result>> slots;
  for (std::size_t d = 1; d < devices_.size(); ++d) {
    slots.push_back(std::async(others, [this, d, at] { return devices_[d].compute(at); }));
  }
  std::vector<LeafDevice::Result> received;
  received.push_back(devices_[0].compute(at));
  for (auto& slot : slots) received.push_back(slot.get());
  settled_ = true;
  return received;
}

/// What a device sends is in the slot of its number, and is added in the order of the leaves, whenever it came.
std::vector<SumNode> LeafStep::added(std::vector<LeafDevice::Result> received) const {
  TreeSum sum(plan_.shape.leaves);
  for (LeafDevice::Result& slot : received) {
    for (SumNode& node : slot.nodes) sum.add(std::move(node));
  }
  return sum.take();
}

Outcome LeafStep::run(const StepPosition& at) {
  std::vector<LeafDevice::Result> received = compute_leaves(at);
  Outcome leaves;
  for (LeafDevice::Result& slot : received) {
    if (leaves.completed() && !slot.outcome.completed()) leaves = std::move(slot.outcome);
  }
  if (ranked_) {
    const std::vector<SumNode> nodes = leaves.completed() ? added(std::move(received)) : std::vector<SumNode>{};
    return ranked_->run(at.epoch, at.batch, std::move(leaves), nodes);
  }
  if (!leaves.completed()) return leaves;
  TreeSum root(plan_.shape.leaves);
  for (SumNode& node : added(std::move(received))) root.add(std::move(node));
  Summands sums = root.take_root();
  Named given;
  for (std::size_t i = 0; i < sums_.size(); ++i) given.emplace(sums_[i], std::move(sums.at(i)));
  bind_step(*update_, at);
  return update_->run(given);
}

}  // namespace etalon::training
