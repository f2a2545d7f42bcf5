#include "compiled/runtime/unit.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "compiled/machine/thresholds.hpp"
#include "compiled/reporting.hpp"
#include "compiled/runtime/spare_memory.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// A kernel on part of its range, in the form that the pool calls.
struct Call {
  KernelFunction function;
  std::byte* const* operands;
  std::byte* scratch;         ///< of slot 0; the others follow
  std::size_t scratch_bytes;  ///< of each
};

/// Machine code is made for the dump alone where the dump wants it as text.
Wanted wanted_by(const CompileOptions& options) {
  const auto wants = [&](const char* name) { return options.dump_after.contains(name); };
  if (!options.dump) return {false, false, options.debug};
  return {!options.dump_after.empty(), wants("asm") || wants("generate") || wants("link") || wants("all"), options.debug};
}

void call_part(void* context, std::int64_t begin, std::int64_t end, std::size_t slot) {
  const Call& call = *static_cast<const Call*>(context);
  call.function(call.operands, begin, end, call.scratch + slot * call.scratch_bytes);
}

}  // namespace

Unit::Unit(spec::System system, const CompileOptions& options, std::shared_ptr<Jit> jit, std::shared_ptr<Buffer> arena,
           const std::vector<PlanOptions::Update>& updates, const Kept& kept)
    : arena_(std::move(arena)) {
  const std::unique_ptr<Generation> generation = jit->begin(wanted_by(options));
  Compilation made = begin(std::move(system), options, jit->machine(), updates, kept);
  made.generator = generation.get();
  compiled::run(made, Level::assembly);
  code_ = generation->take();
  for (const KeptLayout& layout : made.layouts.kept) panels_.push_back(layout.panels);
  for (std::size_t k = 0; k < made.nests.size(); ++k) shared_.push_back(made.nests[k].work >= options.least_shared_work && code_.blocks[k] > 1);
  system_ = std::move(made.system);
  plan_ = std::move(made.plan);
  reserve_arena();
  tensors_.resize(system_.tensors.size());
  for (const auto& operands : code_.operands) operands_.emplace_back(operands.size());
  pool_ = options.pool;
  report_.stages = std::move(made.seconds);
  const auto spent = [&](Level level) { return made.spent[static_cast<std::size_t>(level)]; };
  report_.passes_seconds = spent(Level::equations) + spent(Level::plan);
  report_.codegen_seconds = spent(Level::loops) + spent(Level::llvm) + spent(Level::assembly);
  report_.values = std::move(made.values);
  report_.decisions = made.deciding.taken();
  report_.kernels = made.nests.size();
  report_.shared_kernels = static_cast<std::size_t>(std::count(shared_.begin(), shared_.end(), true));
  report_.kernel_reports = kernel_reports(system_, plan_);
  count_bytes(system_, plan_, report_);
  report_.stack_bytes = code_.stack_bytes * std::max(1U, options.threads);
  report_.cached = code_.cached;
}

void Unit::reserve_arena() {
  // The compiler leaves more memory than many a program needs. Asking takes a while, which small programs would notice.
  if (plan_.arena_bytes >= threshold<std::size_t>("much_memory")) give_back_spare_memory();
  if (plan_.arena_bytes <= arena_->size()) return;
  *arena_ = Buffer();
  *arena_ = Buffer(plan_.arena_bytes);
}

void Unit::place(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  if (std::ranges::equal(inputs, inputs_) && std::ranges::equal(outputs, outputs_) && arena_->data() == arena_at_) return;
  for (const std::byte* output : outputs) {
    // Vectors that go around the caches cannot be stored elsewhere.
    if (std::bit_cast<std::uintptr_t>(output) % threshold<std::uintptr_t>("line_bytes") != 0) throw InternalError("run: an output does not begin a cache line");
  }
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  arena_at_ = arena_->data();
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Residence& r = plan_.residences[t];
    switch (r.home) {
      case Home::input:
      case Home::in_place: tensors_[t] = inputs[r.index]; break;
      case Home::output: tensors_[t] = outputs[r.index]; break;
      case Home::arena: tensors_[t] = arena_->data() + r.offset; break;
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
  const Scratch scratch = plan_.kernels[kernel].scratch.value_or(Scratch{});
  Call call{code_.kernels[kernel], operands_[kernel].data(), arena_->data() + scratch.offset, scratch.bytes};
  if (pool_ && shared_[kernel]) {
    pool_->run(code_.blocks[kernel], call_part, &call);
  } else {
    call_part(&call, 0, code_.blocks[kernel], 0);
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
