#ifdef ETALON_HAS_NVRTC

#include "cuda/driver/kernels.hpp"

#include <fmt/format.h>

namespace etalon::cuda {

namespace {

/// What any kernel may have without asking.
constexpr unsigned unasked_shared_bytes = 48U << 10U;

}  // namespace

Kernels::Kernels(const Queue& queue, const Image& image, std::span<const KernelEntry> entries) : queue_(queue) {
  queue_.enter();
  queue_.api.check(queue_.api.module_load_data(&module_, image.bytes.c_str(), 0, nullptr, nullptr),
                   fmt::format("cuModuleLoadDataEx for {}", image.architecture));
  try {
    for (const KernelEntry& entry : entries) kernels_.push_back(found(entry));
  } catch (...) {
    (void)queue_.api.module_unload(module_);
    throw;
  }
}

Kernels::~Kernels() {
  (void)queue_.api.ctx_set_current(queue_.context);
  (void)queue_.api.module_unload(module_);
}

Kernel Kernels::found(const KernelEntry& entry) const {
  const Api& api = queue_.api;
  Kernel kernel{entry.name, nullptr, static_cast<unsigned>(entry.grid.blocks),
                static_cast<unsigned>(entry.grid.threads), static_cast<unsigned>(entry.grid.shared_bytes)};
  api.check(api.module_get_function(&kernel.function, module_, kernel.name.c_str()),
            fmt::format("cuModuleGetFunction of {}", kernel.name));
  if (kernel.shared_bytes > unasked_shared_bytes) {
    api.check(api.func_set_attribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(kernel.shared_bytes)),
              fmt::format("cuFuncSetAttribute of {} for {} bytes of shared memory", kernel.name, kernel.shared_bytes));
  }
  return kernel;
}

Parameters::Parameters(const compiled::Launch& launch, const compiled::Addresses& at) {
  for (const compiled::Operand& o : launch.operands) operands_.push_back(pointer(at.at(o.memory)));
  for (CUdeviceptr& operand : operands_) pointers_.push_back(&operand);
}

}  // namespace etalon::cuda

#endif
