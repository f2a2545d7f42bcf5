#include "compiled/runtime/units.hpp"

#include <algorithm>

#include "compiled/runtime/processor.hpp"
#include "spec/derivative/derivative.hpp"

namespace etalon::compiled {

using spec::System;

Units::Units(Task task, const CompileOptions& options) : task_(std::move(task)), options_(options) {
  if (!options_.device) options_.device = std::make_shared<Processor>(machines::all.back(), options_.cache);
  if (device()->is_host()) in_place_ = task_.updates;
  for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
    if (task_.inputs[i].role != spec::Role::parameter) continue;
    const auto update = std::ranges::find(task_.updates, i, &PlanOptions::Update::input);
    kept_.push_back({i, update == task_.updates.end() ? std::nullopt : std::optional(update->output)});
  }
  first_ = made_of(task_.system, in_place_, {kept_, std::nullopt});
  options_.decisions.clear();  // the others are other systems
  options_.loops.reset();
}

const Unit& Units::laid_out(const std::vector<std::optional<Panels>>& panels) {
  if (first_->panels() == panels) return *first_;
  const std::lock_guard lock(mutex_);
  const auto made = std::ranges::find_if(others_, [&](const auto& other) { return other->panels() == panels; });
  if (made != others_.end()) return **made;
  others_.push_back(made_of(task_.system, in_place_, {kept_, panels}));
  return *others_.back();
}

const Unit& Units::without_writes() {
  const bool in_panels = std::ranges::any_of(first_->panels(), [](const auto& panels) { return panels.has_value(); });
  if (task_.updates.empty() && !in_panels) return *first_;
  const std::lock_guard lock(mutex_);
  if (!pure_) pure_ = made_of(with_outputs(task_.system.outputs.size() - task_.updates.size()));
  return *pure_;
}

const Unit& Units::derivative(bool reverse, const std::vector<std::size_t>& wrt) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Unit>& made = derivatives_[{reverse, wrt}];
  if (!made) {
    System primal = with_outputs(task_.outputs);
    primal.wishes.clear();  // they are about runs
    made = made_of(reverse ? spec::vjp(primal, wrt) : spec::jvp(primal, wrt));
  }
  return *made;
}

/// The first outputs of the system alone.
System Units::with_outputs(std::size_t count) const {
  System s = task_.system;
  s.outputs.resize(count);
  return s;
}

std::unique_ptr<Unit> Units::made_of(System system, const std::vector<PlanOptions::Update>& updates, const Kept& kept) const {
  return std::make_unique<Unit>(std::move(system), options_, *device(), updates, kept);
}

}  // namespace etalon::compiled
