#include "compiled/runtime/kernels.hpp"

#include <algorithm>
#include <utility>

namespace etalon::compiled {

namespace {

/// A kernel on part of its range, in the form that the pool calls.
struct Call {
  KernelFunction function;
  std::byte* const* operands;
  std::byte* scratch;         ///< of slot 0; the others follow
  std::size_t scratch_bytes;  ///< of each
};

void call_part(void* context, std::int64_t begin, std::int64_t end, std::size_t slot) {
  const Call& call = *static_cast<const Call*>(context);
  call.function(call.operands, begin, end, call.scratch + slot * call.scratch_bytes);
}

}  // namespace

Kernels::Kernels(Code code, const Compilation& made)
    : kernels_(code.kernels.size()), code_(std::move(code.keep)), stack_bytes_(code.stack_bytes * std::max(1U, made.options.threads)), cached_(code.cached) {
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const bool shared = made.nests[k].work >= made.options.least_shared_work && code.blocks[k] > 1;
    kernels_[k] = {code.kernels[k], code.blocks[k], shared};
  }
  if (made.options.threads > 1) pool_ = ThreadPool::of_process(made.options.threads);
}

void Kernels::launch(const Launch& launch, std::byte* const* operands, std::byte* arena) const {
  const Kernel& kernel = kernels_[launch.kernel];
  const Scratch scratch = launch.scratch.value_or(Scratch{});
  Call call{kernel.function, operands, arena + scratch.offset, scratch.bytes};
  if (kernel.shared && pool_ != nullptr) pool_->run(kernel.blocks, call_part, &call);
  else call_part(&call, 0, kernel.blocks, 0);
}

void Kernels::add_to(Report& report) const {
  report.kernels = kernels_.size();
  report.shared_kernels = static_cast<std::size_t>(std::ranges::count(kernels_, true, &Kernel::shared));
  report.stack_bytes = stack_bytes_;
  report.cached = cached_;
}

}  // namespace etalon::compiled
