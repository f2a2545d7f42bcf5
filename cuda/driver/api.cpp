#ifdef ETALON_HAS_NVRTC

#include "cuda/driver/api.hpp"

#include <dlfcn.h>

#include "spec/error.hpp"

namespace etalon::cuda {

namespace {

void* opened(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Unsupported(std::string("cuda: no driver: ") + dlerror());
  return handle;
}

}  // namespace

template <class Function>
Function Api::found(const char* name) const {
  void* const symbol = dlsym(handle_, name);
  if (symbol != nullptr) return reinterpret_cast<Function>(symbol);
  dlclose(handle_);
  throw Unsupported("cuda: the driver " + path_ + " is too old: it has no " + name);
}

Api::Api(const std::string& library)
    : path_(library),
      handle_(opened(library)),
      get_error_name(found<decltype(get_error_name)>("cuGetErrorName")),
      init(found<decltype(init)>("cuInit")),
      driver_get_version(found<decltype(driver_get_version)>("cuDriverGetVersion")),
      device_get_count(found<decltype(device_get_count)>("cuDeviceGetCount")),
      device_get(found<decltype(device_get)>("cuDeviceGet")),
      device_get_name(found<decltype(device_get_name)>("cuDeviceGetName")),
      device_get_attribute(found<decltype(device_get_attribute)>("cuDeviceGetAttribute")),
      device_total_mem(found<decltype(device_total_mem)>("cuDeviceTotalMem_v2")),
      primary_ctx_retain(found<decltype(primary_ctx_retain)>("cuDevicePrimaryCtxRetain")),
      primary_ctx_release(found<decltype(primary_ctx_release)>("cuDevicePrimaryCtxRelease_v2")),
      ctx_set_current(found<decltype(ctx_set_current)>("cuCtxSetCurrent")),
      stream_create(found<decltype(stream_create)>("cuStreamCreate")),
      stream_destroy(found<decltype(stream_destroy)>("cuStreamDestroy_v2")),
      stream_synchronize(found<decltype(stream_synchronize)>("cuStreamSynchronize")),
      module_load_data(found<decltype(module_load_data)>("cuModuleLoadDataEx")),
      module_unload(found<decltype(module_unload)>("cuModuleUnload")),
      module_get_function(found<decltype(module_get_function)>("cuModuleGetFunction")),
      mem_alloc(found<decltype(mem_alloc)>("cuMemAlloc_v2")),
      mem_free(found<decltype(mem_free)>("cuMemFree_v2")),
      memcpy_to_device(found<decltype(memcpy_to_device)>("cuMemcpyHtoDAsync_v2")),
      memcpy_to_host(found<decltype(memcpy_to_host)>("cuMemcpyDtoH_v2")),
      memcpy_on_device(found<decltype(memcpy_on_device)>("cuMemcpyDtoDAsync_v2")),
      memset_async(found<decltype(memset_async)>("cuMemsetD8Async")),
      launch_kernel(found<decltype(launch_kernel)>("cuLaunchKernel")),
      func_set_attribute(found<decltype(func_set_attribute)>("cuFuncSetAttribute")),
      graph_create(found<decltype(graph_create)>("cuGraphCreate")),
      graph_destroy(found<decltype(graph_destroy)>("cuGraphDestroy")),
      graph_add_kernel_node(found<decltype(graph_add_kernel_node)>("cuGraphAddKernelNode_v2")),
      graph_add_memcpy_node(found<decltype(graph_add_memcpy_node)>("cuGraphAddMemcpyNode")),
      graph_add_memset_node(found<decltype(graph_add_memset_node)>("cuGraphAddMemsetNode")),
      graph_instantiate(found<decltype(graph_instantiate)>("cuGraphInstantiateWithFlags")),
      graph_exec_destroy(found<decltype(graph_exec_destroy)>("cuGraphExecDestroy")),
      graph_launch(found<decltype(graph_launch)>("cuGraphLaunch")) {}

Api::~Api() { dlclose(handle_); }

std::string Api::name_of(CUresult result) const {
  const char* name = nullptr;
  if (get_error_name(result, &name) == CUDA_SUCCESS && name != nullptr) return name;
  return "error " + std::to_string(static_cast<int>(result));
}

void Api::check(CUresult result, const std::string& call) const {
  if (result != CUDA_SUCCESS) throw DeviceError("device cuda: " + call + ": " + name_of(result));
}

}  // namespace etalon::cuda

#endif
