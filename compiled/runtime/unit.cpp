#include "compiled/runtime/unit.hpp"

#include <algorithm>
#include <utility>

#include "compiled/reporting.hpp"

namespace etalon::compiled {

namespace {

/// Machine code is made for the dump alone where the dump wants it as text.
Wanted wanted_by(const CompileOptions& options) {
  const auto wants = [&](const char* name) { return options.dump_after.contains(name); };
  if (!options.dump) return {false, false, options.debug};
  return {!options.dump_after.empty(), wants("asm") || wants("generate") || wants("link") || wants("all"), options.debug};
}

}  // namespace

Unit::Unit(spec::System system, const CompileOptions& options, Device& device, const std::vector<PlanOptions::Update>& updates, const Kept& kept) {
  const std::unique_ptr<ModuleBuilder> builder = device.build(wanted_by(options));
  Compilation made = begin(std::move(system), options, device.machine(), updates, kept);
  made.generator = &builder->generator();
  compiled::run(made, Level::assembly);
  for (const KeptLayout& layout : made.layouts.kept) panels_.push_back(layout.panels);
  module_ = builder->load(made, report_);
  const auto spent = [&](Level level) { return made.spent[static_cast<std::size_t>(level)]; };
  report_.passes_seconds = spent(Level::equations) + spent(Level::plan);
  report_.codegen_seconds = spent(Level::loops) + spent(Level::llvm) + spent(Level::assembly);
  report_.stages = std::move(made.seconds);
  report_.values = std::move(made.values);
  report_.decisions = made.deciding.taken();
  report_.kernel_reports = kernel_reports(made.system, made.plan);
  count_bytes(made.system, made.plan, report_);
  system_ = std::move(made.system);
  arena_bytes_ = std::max(made.script.arena_bytes, module_->arena_bytes());
}

}  // namespace etalon::compiled
