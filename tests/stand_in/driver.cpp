// A driver for tests: libcuda.so.1's calls over the emulator. An image is CUDA C++ itself. What is asked of a stream is done when it waits, so
// that nothing works by being early. Any call may be told to fail; then it does nothing, but for those that give something back, which nobody
// would ask again.
#include "tests/stand_in/driver.hpp"

#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/emulator/memory.hpp"
#include "cuda/emulator/object.hpp"

using etalon::cuda::emulator::Course;
using etalon::cuda::emulator::Extent;
using etalon::cuda::emulator::Memory;
using etalon::cuda::emulator::Object;

struct CUmod_st {
  std::shared_ptr<const Object> object;
  std::map<std::string, CUfunc_st*> functions;
};
struct CUfunc_st {
  CUmod_st* module;
  std::string name;
  std::size_t parameters = 0;
};

namespace {

struct Machine {
  etalon::test::StandIn told;
  Memory memory;
  Course course{1};
  std::deque<std::function<void()>> waiting;
  CUresult broken = CUDA_SUCCESS;  ///< a failure inside a stream stays
};

Machine& machine() {
  static Machine one;
  return one;
}

bool fails() { return machine().told.calls++ == machine().told.fails_at; }

std::byte* at(CUdeviceptr pointer) { return std::bit_cast<std::byte*>(pointer); }

/// All memory may be touched while what waited is done.
CUresult work() {
  Machine& m = machine();
  for (; !m.waiting.empty(); m.waiting.pop_front()) {
    try {
      if (m.broken == CUDA_SUCCESS) m.waiting.front()();
    } catch (const std::exception&) {
      m.broken = CUDA_ERROR_LAUNCH_FAILED;
    }
  }
  return m.broken;
}

/// How many parameters the kernel of that name has in the text.
std::size_t parameters_of(const std::string& text, const std::string& kernel) {
  const std::size_t begin = text.find('(', text.find("__global__ void " + kernel + "(")), end = text.find(')', begin);
  const std::string inside = text.substr(begin + 1, end - begin - 1);
  return inside.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(inside.begin(), inside.end(), ','));
}

}  // namespace

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
  for (const std::string& kernel : made->object->kernels()) made->functions[kernel] = new CUfunc_st{made, kernel, parameters_of(text, kernel)};
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
  machine().waiting.emplace_back([to, from, bytes] {
    const Memory::Open open(machine().memory, {at(from), at(to)});
    std::memcpy(at(to), at(from), bytes);
  });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  machine().waiting.emplace_back([to, value, bytes] {
    const Memory::Open open(machine().memory, {at(to)});
    std::memset(at(to), value, bytes);
  });
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream, void** parameters, void**) {
  if (fails()) return CUDA_ERROR_UNKNOWN;
  std::vector<CUdeviceptr> values;
  for (std::size_t n = 0; n < function->parameters; ++n) values.push_back(*static_cast<CUdeviceptr*>(parameters[n]));
  machine().waiting.emplace_back([=, values = std::move(values)]() mutable {
    std::vector<void*> pointers;
    std::vector<const std::byte*> touched;
    for (CUdeviceptr& value : values) {
      pointers.push_back(&value);
      touched.push_back(at(value));
    }
    const Memory::Open open(machine().memory, touched);
    function->module->object->launch(function->name, Extent{{x, y, z}, {block_x, block_y, block_z}, shared}, pointers.data(), machine().course);
  });
  return CUDA_SUCCESS;
}

}  // extern "C"
