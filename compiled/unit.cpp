#include "compiled/unit.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "compiled/codegen/debug_lines.hpp"
#include "compiled/loops/listing.hpp"
#include "compiled/loops/lower.hpp"
#include "compiled/plan/budget.hpp"
#include "compiled/plan/recompute.hpp"
#include "compiled/reporting.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A kernel on part of its range, in the form that the pool calls.
struct Call {
  KernelFunction function;
  std::byte* const* operands;
};

void call_part(void* context, std::int64_t begin, std::int64_t end) {
  const Call& call = *static_cast<const Call*>(context);
  call.function(call.operands, begin, end);
}

}  // namespace

Unit::Unit(spec::System system, const CompileOptions& options, std::shared_ptr<Jit> jit,
           const std::vector<PlanOptions::Update>& updates)
    : system_(std::move(system)) {
  const auto start = Clock::now();
  auto stage = start;
  const auto done = [&](const char* name) {
    report_.stages.emplace_back(name, seconds_since(stage));
    stage = Clock::now();
  };
  PipelineOptions pipeline = options.pipeline;
  std::optional<ValueHistory> history;
  if (options.explain || options.dump) history.emplace(system_);
  pipeline.timed = [&](std::string_view pass, double seconds) {
    report_.stages.emplace_back(pass, seconds);
    if (history) history->after(pass, system_);
  };
  optimise(system_, pipeline);
  if (options.after_passes) options.after_passes(system_);
  stage = Clock::now();
  std::vector<Decision> decisions;
  if (options.schedule.contractions) decisions = schedule_contractions(system_, jit->machine(), options.schedule);
  done("schedule");
  PlanOptions plan_options = options.plan;
  plan_options.updates = updates;
  plan_ = plan(system_, plan_options, decisions);
  if (plan_options.fuse && plan_options.recompute && recompute_cheap(system_, plan_, decisions)) {
    plan_ = plan(system_, plan_options, decisions);
  }
  if (plan_options.memory_budget && plan_.arena_bytes > *plan_options.memory_budget) {
    loops::pin_lanes(system_, plan_, jit->machine());
    fit_budget(system_, plan_options, plan_);
  }
  done("plan");
  if (history) report_.values = history->reports(system_, plan_);
  if (options.dump) options.dump("values", to_text(report_.values));
  if (options.dump) options.dump("plan", to_text(system_, plan_));
#ifndef NDEBUG
  check_plan(system_, plan_, plan_options);
#endif
  report_.passes_seconds = seconds_since(start);
  const auto middle = Clock::now();
  stage = Clock::now();
  const std::vector<loops::Nest> nests = loops::lower(system_, plan_, jit->machine());
  done("loops");
  for (const loops::Nest& nest : nests) {
    if (options.dump) options.dump("loops", loops::to_text(system_, nest));
  }
  std::function<void(const std::string&)> dump;
  if (options.dump) dump = [&](const std::string& text) { options.dump("llvm", text); };
  code_ = generate(nests, *jit, options, dump);
  arena_ = Buffer(plan_.arena_bytes);
  tensors_.resize(system_.tensors.size());
  for (const auto& operands : code_.operands) operands_.emplace_back(operands.size());
  if (options.threads > 1) pool_ = std::make_unique<ThreadPool>(options.threads);
  report_.kernels = nests.size();
  for (std::size_t k = 0; k < nests.size(); ++k) shared_.push_back(nests[k].work >= options.least_shared_work && code_.blocks[k] > 1);
  report_.shared_kernels = static_cast<std::size_t>(std::count(shared_.begin(), shared_.end(), true));
  report_.kernel_reports = kernel_reports(system_, plan_);
  count_bytes(system_, plan_, report_);
  report_.cached = code_.cached;
  report_.stages.insert(report_.stages.end(), code_.stages.begin(), code_.stages.end());
  report_.codegen_seconds = seconds_since(middle);
}

Code Unit::generate(const std::vector<loops::Nest>& nests, Jit& jit, const CompileOptions& options,
                    const std::function<void(const std::string&)>& dump) const {
  if (!options.debug.is_on()) return jit.generate(system_, nests, dump);
  const loops::Listing listing(system_, nests);
  const Source source{listing, options.debug.write("loops", listing.text())};
  return jit.generate(system_, nests, dump, &source);
}

void Unit::place(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  if (std::ranges::equal(inputs, inputs_) && std::ranges::equal(outputs, outputs_)) return;
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Residence& r = plan_.residences[t];
    switch (r.home) {
      case Home::input:
      case Home::in_place: tensors_[t] = inputs[r.index]; break;
      case Home::output: tensors_[t] = outputs[r.index]; break;
      case Home::arena: tensors_[t] = arena_.data() + r.offset; break;
      case Home::turn:
      case Home::in_register:
      case Home::none: tensors_[t] = nullptr; break;
    }
  }
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    for (std::size_t i = 0; i < operands_[k].size(); ++i) operands_[k][i] = tensors_[static_cast<std::size_t>(code_.operands[k][i])];
  }
}

void Unit::call(std::size_t kernel) {
  Call call{code_.kernels[kernel], operands_[kernel].data()};
  if (pool_ && shared_[kernel]) {
    pool_->run(code_.blocks[kernel], call_part, &call);
  } else {
    call_part(&call, 0, code_.blocks[kernel]);
  }
}

void Unit::run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  place(inputs, outputs);
  for (std::size_t k = 0; k < code_.kernels.size(); ++k) call(k);
  for (const Commit& c : plan_.commits) {
    const spec::TensorId from = system_.outputs.at(c.output);
    const std::size_t bytes = static_cast<std::size_t>(system_[from].dims.count()) * size_of(system_[from].dtype);
    if (bytes != 0) std::memcpy(inputs[c.input], tensors_[static_cast<std::size_t>(from)], bytes);
  }
}

}  // namespace etalon::compiled
