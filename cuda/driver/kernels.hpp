/// \file
/// A loaded image and its kernels, each with what a launch of it is told. It launches nothing. Without the toolkit
/// there is nothing here.
#pragma once

#ifdef ETALON_HAS_NVRTC

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiled/runtime/device.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/module_text.hpp"
#include "cuda/nvrtc.hpp"

namespace etalon::cuda {

/// What the driver is told at each launch of a kernel but for addresses.
struct Kernel {
  std::string name;
  CUfunction function = nullptr;
  unsigned blocks = 1;
  unsigned threads = 1;       ///< of a block
  unsigned shared_bytes = 0;  ///< of a block, beside those that the kernel declares
};

/// The module is the driver's as long as this lives.
class Kernels {
 public:
  /// \param entries kernels of the image; they are numbered in this order
  /// \throws DeviceError naming the call and the kernel
  Kernels(const Queue& queue, const Image& image, std::span<const KernelEntry> entries);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  [[nodiscard]] const Kernel& operator[](std::size_t number) const { return kernels_[number]; }

 private:
  [[nodiscard]] Kernel found(const KernelEntry& entry) const;

  Queue queue_;
  CUmodule module_ = nullptr;
  std::vector<Kernel> kernels_;
};

/// A launch's parameters as the driver reads them: pointers to the addresses of its operands.
class Parameters {
 public:
  Parameters(const compiled::Launch& launch, const compiled::Addresses& at);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  [[nodiscard]] void** data() { return pointers_.data(); }

 private:
  std::vector<CUdeviceptr> operands_;
  std::vector<void*> pointers_;
};

}  // namespace etalon::cuda

#endif
