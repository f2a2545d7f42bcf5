#include "compiled/runtime/unit.hpp"

#include <algorithm>
#include <utility>

#include "compiled/reporting.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// Machine code is made for the dump alone where the dump wants it as text.
Wanted wanted_by(const CompileOptions& options) {
  const auto wants = [&](const char* name) { return options.dump_after.contains(name); };
  if (!options.dump) return {false, false, options.debug};
  return {!options.dump_after.empty(), wants("asm") || wants("generate") || wants("link") || wants("all"), options.debug};
}

}  // namespace

Unit::Unit(spec::System system, const CompileOptions& options, Jit& jit, const std::vector<PlanOptions::Update>& updates, const Kept& kept) {
  const std::unique_ptr<Generation> generation = jit.begin(wanted_by(options));
  Compilation made = begin(std::move(system), options, jit.machine(), updates, kept);
  made.generator = generation.get();
  compiled::run(made, Level::assembly);
  for (const KeptLayout& layout : made.layouts.kept) panels_.push_back(layout.panels);
  take(generation->take(), made);
  if (options.threads > 1) pool_ = ThreadPool::of_process(options.threads);
  const auto spent = [&](Level level) { return made.spent[static_cast<std::size_t>(level)]; };
  report_.passes_seconds = spent(Level::equations) + spent(Level::plan);
  report_.codegen_seconds = spent(Level::loops) + spent(Level::llvm) + spent(Level::assembly);
  report_.stages = std::move(made.seconds);
  report_.values = std::move(made.values);
  report_.decisions = made.deciding.taken();
  report_.kernel_reports = kernel_reports(made.system, made.plan);
  count_bytes(made.system, made.plan, report_);
  system_ = std::move(made.system);
  script_ = std::move(made.script);
}

void Unit::take(Code code, const Compilation& made) {
  kernels_.resize(code.kernels.size());
  for (const Command& command : made.script.commands) {
    const auto* launch = std::get_if<Launch>(&command.does);
    if (launch == nullptr) continue;
    const std::size_t k = launch->kernel;
    const bool shared = made.nests[k].work >= made.options.least_shared_work && code.blocks[k] > 1;
    kernels_[k] = {code.kernels[k], code.blocks[k], shared, {}};
    for (const Operand& o : launch->operands) kernels_[k].operands.push_back(o.memory);
  }
  code_ = std::move(code.keep);
  report_.kernels = kernels_.size();
  report_.shared_kernels = static_cast<std::size_t>(std::ranges::count(kernels_, true, &Kernel::shared));
  report_.stack_bytes = code.stack_bytes * std::max(1U, made.options.threads);
  report_.cached = code.cached;
}

}  // namespace etalon::compiled
