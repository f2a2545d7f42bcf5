/// \file
/// Where a device's work goes: its context and the one stream of it, in order. Without the toolkit there is nothing
/// here.
#pragma once

#ifdef ETALON_HAS_NVRTC

#include <bit>
#include <cstddef>

#include "cuda/driver/api.hpp"

namespace etalon::cuda {

/// Of a device that outlives it.
struct Queue {
  const Api& api;
  CUcontext context;
  CUstream stream;

  /// Calls of this thread are about this context from now on. \throws DeviceError
  void enter() const { api.check(api.ctx_set_current(context), "cuCtxSetCurrent"); }
};

/// An address as the driver spells it.
[[nodiscard]] inline CUdeviceptr pointer(const std::byte* memory) { return std::bit_cast<CUdeviceptr>(memory); }

}  // namespace etalon::cuda

#endif
