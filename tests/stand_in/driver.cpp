// A driver for tests: libcuda.so.1's calls over the emulator. An image is CUDA C++ itself. What is asked of a stream is done when it waits, so
// that nothing works by being early. Any call may be told to fail; then it does nothing, but for those that give something back, which nobody
// would ask again.
#include <cuda.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/stand_in/machine.hpp"

using etalon::test::at;
using etalon::test::copying;
using etalon::test::fails;
using etalon::test::launching;
using etalon::test::machine;
using etalon::test::setting;
using etalon::test::work;
using etalon::cuda::emulator::Memory;

extern "C" {

etalon::test::StandIn* etalon_stand_in() { return &machine().told; }

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_UNKNOWN ? "CUDA_ERROR_UNKNOWN" : error == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned) { return fails() ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int* version) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *version = machine().told.driver_version;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *count = machine().told.devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int number) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *device = number;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  std::strncpy(name, ("Stand-in " + std::to_string(device)).c_str(), static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  const int capability = machine().told.capability;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? capability / 10 : capability % 10;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *context = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return fails() ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return fails() ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS; }

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *stream = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream) { return fails() ? CUDA_ERROR_UNKNOWN : work(); }
CUresult cuStreamSynchronize(CUstream) { return fails() ? CUDA_ERROR_UNKNOWN : work(); }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  const std::string text(static_cast<const char*>(image));
  auto* made = new CUmod_st{etalon::cuda::emulator::compile({&text, 1}).front(), {}};
  for (const std::string& kernel : made->object->kernels()) made->functions[kernel] = new CUfunc_st{made, kernel, etalon::test::parameters_of(text, kernel)};
  *module = made;
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  const bool failed = fails();
  const CUresult done = work();
  for (const auto& [name, function] : module->functions) delete function;
  delete module;
  return failed ? CUDA_ERROR_UNKNOWN : done;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  const auto found = module->functions.find(name);
  if (found == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
  *function = found->second;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* memory, std::size_t bytes) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  *memory = std::bit_cast<CUdeviceptr>(machine().memory.allocate(bytes));
  ++machine().told.memory;
  return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  const bool failed = fails();
  const CUresult done = work();
  machine().memory.release(at(memory));
  --machine().told.memory;
  return failed ? CUDA_ERROR_UNKNOWN : done;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  const auto* const begin = static_cast<const std::byte*>(from);
  machine().waiting.emplace_back([to, copied = std::vector<std::byte>(begin, begin + bytes)] {
    const Memory::Open open(machine().memory, {at(to)});
    std::memcpy(at(to), copied.data(), copied.size());
  });
  return CUDA_SUCCESS;
}

/// Beside all streams, and done when it returns.
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  const Memory::Open open(machine().memory, {at(from)});
  std::memcpy(to, at(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  machine().waiting.push_back(copying(to, from, bytes));
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  machine().waiting.push_back(setting(to, value, bytes));
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0) return CUDA_ERROR_INVALID_VALUE;
  function->most_shared = static_cast<unsigned>(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream, void** parameters, void**) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  if (shared > function->most_shared) return CUDA_ERROR_INVALID_VALUE;
  machine().waiting.push_back(launching(*function, {{x, y, z}, {block_x, block_y, block_z}, shared}, parameters));
  return CUDA_SUCCESS;
}

}  // extern "C"
