/// \file
/// The calls of the driver's library that are used, with the toolkit's types. Without the toolkit there is nothing here.
#pragma once

#ifdef ETALON_HAS_NVRTC

#include <cuda.h>

#include <string>

namespace etalon::cuda {

/// The loaded library; as long as it lives the calls are good.
class Api {
 public:
  /// \throws Unsupported where there is no such library or it lacks a call
  explicit Api(const std::string& library);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Nothing where the call was done. \param call its name, and what it was about
  /// \throws DeviceError `device cuda: CALL: NAME OF THE ERROR`
  void check(CUresult result, const std::string& call) const;
  /// As the toolkit spells it.
  [[nodiscard]] std::string name_of(CUresult result) const;

 private:
  template <class Function>
  [[nodiscard]] Function found(const char* name) const;

  std::string path_;
  void* handle_ = nullptr;

 public:
  const decltype(&::cuGetErrorName) get_error_name;
  const decltype(&::cuInit) init;
  const decltype(&::cuDriverGetVersion) driver_get_version;
  const decltype(&::cuDeviceGetCount) device_get_count;
  const decltype(&::cuDeviceGet) device_get;
  const decltype(&::cuDeviceGetName) device_get_name;
  const decltype(&::cuDeviceGetAttribute) device_get_attribute;
  const decltype(&::cuDeviceTotalMem_v2) device_total_mem;
  const decltype(&::cuDevicePrimaryCtxRetain) primary_ctx_retain;
  const decltype(&::cuDevicePrimaryCtxRelease_v2) primary_ctx_release;
  const decltype(&::cuCtxSetCurrent) ctx_set_current;
  const decltype(&::cuStreamCreate) stream_create;
  const decltype(&::cuStreamDestroy_v2) stream_destroy;
  const decltype(&::cuStreamSynchronize) stream_synchronize;
  const decltype(&::cuModuleLoadDataEx) module_load_data;
  const decltype(&::cuModuleUnload) module_unload;
  const decltype(&::cuModuleGetFunction) module_get_function;
  const decltype(&::cuMemAlloc_v2) mem_alloc;
  const decltype(&::cuMemFree_v2) mem_free;
  const decltype(&::cuMemcpyHtoDAsync_v2) memcpy_to_device;
  const decltype(&::cuMemcpyDtoH_v2) memcpy_to_host;
  const decltype(&::cuMemcpyDtoDAsync_v2) memcpy_on_device;
  const decltype(&::cuMemsetD8Async) memset_async;
  const decltype(&::cuLaunchKernel) launch_kernel;
  const decltype(&::cuFuncSetAttribute) func_set_attribute;
  const decltype(&::cuGraphCreate) graph_create;
  const decltype(&::cuGraphDestroy) graph_destroy;
  const decltype(&::cuGraphAddKernelNode_v2) graph_add_kernel_node;
  const decltype(&::cuGraphAddMemcpyNode) graph_add_memcpy_node;
  const decltype(&::cuGraphAddMemsetNode) graph_add_memset_node;
  const decltype(&::cuGraphInstantiateWithFlags) graph_instantiate;
  const decltype(&::cuGraphExecDestroy) graph_exec_destroy;
  const decltype(&::cuGraphLaunch) graph_launch;
};

}  // namespace etalon::cuda

#endif
