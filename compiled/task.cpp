#include "compiled/task.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compiled/loops/fetch_rows.hpp"
#include "compiled/loops/lower.hpp"
#include "compiled/loops/merge_rows.hpp"
#include "compiled/loops/stream_results.hpp"
#include "compiled/plan/budget.hpp"
#include "compiled/plan/passing.hpp"
#include "compiled/plan/recompute.hpp"
#include "compiled/reporting.hpp"
#include "compiled/rewrites.hpp"
#include "compiled/schedule/split.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/wishes.hpp"

namespace etalon::compiled {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<PlanOptions::Update> updates_of(const spec::Program& program) {
  const std::vector<spec::Update> all = spec::all_updates(program);
  std::unordered_map<std::string_view, std::size_t> position;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) position.emplace(program.inputs[i].name, i);
  std::vector<PlanOptions::Update> updates;
  for (std::size_t u = 0; u < all.size(); ++u) updates.push_back({position.at(all[u].parameter), program.outputs.size() + u});
  return updates;
}

Machine with_caches(Machine machine, const ScheduleOptions& options) {
  machine.near_bytes = options.near_cache_bytes.value_or(machine.near_bytes);
  machine.middle_bytes = options.middle_cache_bytes.value_or(machine.middle_bytes);
  machine.last_bytes = options.last_cache_bytes.value_or(machine.last_bytes);
  return machine;
}

/// Lays the system out for kept inputs. \returns how these lie.
std::vector<KeptLayout> keep(spec::System& system, const CompileOptions& options, const Machine& machine, const Kept& kept) {
  if (kept.inputs.empty()) return {};
  const ScheduleOptions& schedule = options.schedule;
  if (!kept.given && (!schedule.contractions || !schedule.kept)) return std::vector<KeptLayout>(kept.inputs.size());
  if (schedule.contractions && schedule.split) split_products(system, machine, schedule);
  Layouts layouts = kept.given ? follow_layouts(system, kept.inputs, *kept.given) : choose_layouts(system, machine, schedule, kept.inputs);
  lay_out(system, layouts.tensors);
  if (options.dump) options.dump("layouts", to_text(system, kept.inputs, layouts));
  return std::move(layouts.kept);
}

}  // namespace

Task task_of(const spec::Program& given) {
  if (has_open_extents(given)) return task_of(with_extents(given));
  const spec::Program program = with_captures(given);
  spec::System system = lower(program);  // verifies; what follows relies on it
  Task task{std::move(system), program.inputs, given.outputs.size(), {}, updates_of(program)};
  for (std::string& name : captures(program)) {
    const auto at = std::find(program.outputs.begin(), program.outputs.end(), name);
    task.captured.push_back({std::move(name), static_cast<std::size_t>(at - program.outputs.begin())});
  }
  return task;
}

Task task_of(const spec::System& system) {
  Task task{system, {}, system.outputs.size(), {}, {}};
  for (const spec::TensorId id : system.inputs) {
    spec::Input input;
    input.name = system[id].name;
    input.dtype = system[id].dtype;
    input.dims = system[id].dims;
    input.range = system[id].range;
    task.inputs.push_back(std::move(input));
  }
  return task;
}

Lowered lower_to_loops(spec::System system, const std::vector<PlanOptions::Update>& updates, const CompileOptions& given,
                       const Machine& host, const Kept& kept) {
  const CompileOptions options = with_left_out(given);
  const Machine machine = with_caches(host, options.schedule);
  Lowered out;
  out.system = std::move(system);
  const auto start = Clock::now();
  auto stage = start;
  const auto done = [&](const char* name) {
    out.stages.emplace_back(name, seconds_since(stage));
    stage = Clock::now();
  };
  PipelineOptions pipeline = options.pipeline;
  std::optional<ValueHistory> history;
  if (options.explain || options.dump) history.emplace(out.system);
  pipeline.timed = [&](std::string_view pass, double seconds) {
    out.stages.emplace_back(pass, seconds);
    if (history) history->after(pass, out.system);
  };
  optimise(out.system, pipeline);
  if (options.after_passes) options.after_passes(out.system);
  stage = Clock::now();
  std::vector<Decision> decisions;
  out.kept = keep(out.system, options, machine, kept);
  if (options.schedule.contractions) decisions = schedule_contractions(out.system, machine, options.schedule);
  done("schedule");
  PlanOptions plan_options = options.plan;
  plan_options.updates = updates;
  plan_options.threads = std::max(1U, options.threads);
  out.plan = plan(out.system, plan_options, decisions);
  if (plan_options.fuse && plan_options.passing && add_in_passing(out.system, out.plan, decisions)) {
    out.plan = plan(out.system, plan_options, decisions);
  }
  if (plan_options.fuse && plan_options.recompute && recompute_cheap(out.system, out.plan, decisions)) {
    out.plan = plan(out.system, plan_options, decisions);
  }
  if (plan_options.memory_budget && out.plan.arena_bytes > *plan_options.memory_budget) {
    loops::pin_lanes(out.system, out.plan, machine);
    fit_budget(out.system, plan_options, out.plan);
  }
  done("plan");
  if (history) out.values = history->reports(out.system, out.plan);
  for (std::size_t i = 0; i < out.kept.size(); ++i) {
    const std::string& name = out.system[out.system.inputs[kept.inputs[i].input]].name;
    const auto value = std::find_if(out.values.begin(), out.values.end(), [&](const ValueReport& v) { return v.name == name; });
    if (value != out.values.end() && out.kept[i].panels) value->layout = layout_text(out.kept[i]);
  }
  if (options.dump) options.dump("values", to_text(out.values));
  if (options.dump) options.dump("plan", to_text(out.system, out.plan));
#ifndef NDEBUG
  check_plan(out.system, out.plan, plan_options);
#endif
  out.passes_seconds = seconds_since(start);
  stage = Clock::now();
  out.nests = loops::lower(out.system, out.plan, machine);
  for (std::size_t k = 0; k < out.nests.size(); ++k) {
    if (out.plan.kernels[k].kind != KernelKind::loops || out.plan.kernels[k].schedule) continue;
    if (options.schedule.merge_rows) loops::merge_rows(out.system, out.plan, out.nests[k]);
    if (options.schedule.stream) loops::stream_results(out.system, out.plan, machine.last_bytes, k, out.nests[k]);
    if (options.schedule.fetch_rows) loops::fetch_rows(out.system, machine, out.nests[k]);
  }
  done("loops");
  if (options.dump) {
    for (const loops::Nest& nest : out.nests) options.dump("loops", loops::to_text(out.system, nest));
  }
  return out;
}

}  // namespace etalon::compiled
