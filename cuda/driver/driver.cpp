#include "cuda/driver/driver.hpp"

#include "cuda/grid.hpp"
#include "spec/error.hpp"

#ifdef ETALON_HAS_NVRTC
#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

#include "cuda/driver/api.hpp"
#include "cuda/driver/module.hpp"
#include "cuda/driver/queue.hpp"
#include "cuda/text_builder.hpp"
#endif

namespace etalon::cuda {

#ifdef ETALON_HAS_NVRTC

namespace {

/// What cannot be begun is a reason why there is no device, not a failure of one.
void require(const Api& api, CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) throw Unsupported(fmt::format("cuda: no device: {}: {}", call, api.name_of(result)));
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// \returns the driver's version, once it may be used with this build's toolkit
int begun(const Api& api) {
  require(api, api.init(0), "cuInit");
  int version = 0;
  require(api, api.driver_get_version(&version), "cuDriverGetVersion");
  if (version / 1000 < CUDA_VERSION / 1000)
    throw Unsupported(fmt::format("cuda: the driver is for CUDA {}, expected {} or later, as the toolkit of this build", version_text(version), CUDA_VERSION / 1000));
  return version;
}

int device_count(const Api& api) {
  int count = 0;
  require(api, api.device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw Unsupported("cuda: no device: the driver finds none");
  return count;
}

Described described(const Api& api, CUdevice device, int driver) {
  std::array<char, 256> name{};
  Described d;
  d.driver = driver;
  require(api, api.device_get_name(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
  require(api, api.device_total_mem(&d.bytes, device), "cuDeviceTotalMem");
  int major = 0, minor = 0;
  require(api, api.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
  require(api, api.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
  d.name = name.data();
  d.capability = 10 * major + minor;
  return d;
}

CUdevice numbered(const Api& api, int number) {
  const int count = device_count(api);
  if (number < 0 || number >= count) throw Unsupported(fmt::format("cuda: no device {}: the driver finds {}", number, count));
  CUdevice device = 0;
  require(api, api.device_get(&device, number), "cuDeviceGet");
  return device;
}

}  // namespace

std::vector<Described> described_devices(const std::string& library) {
  const Api api(library);
  const int driver = begun(api);
  std::vector<Described> all;
  for (int n = 0; n < device_count(api); ++n) all.push_back(described(api, numbered(api, n), driver));
  return all;
}

/// The device's primary context with one stream.
struct Driver::State {
  explicit State(DriverOptions given)
      : options(std::move(given)), api(options.library), driver(begun(api)), device(numbered(api, options.device)), about(described(api, device, driver)) {
    require(api, api.primary_ctx_retain(&context, device), "cuDevicePrimaryCtxRetain");
    try {
      require(api, api.ctx_set_current(context), "cuCtxSetCurrent");
      require(api, api.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    } catch (...) {
      (void)api.primary_ctx_release(device);
      throw;
    }
  }
  ~State() {
    (void)api.ctx_set_current(context);
    (void)api.stream_synchronize(stream);
    (void)api.stream_destroy(stream);
    (void)api.primary_ctx_release(device);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Queue queue() const { return {api, context, stream}; }
  void synchronize(const std::string& what) const { api.check(api.stream_synchronize(stream), fmt::format("cuStreamSynchronize{}", what)); }

  DriverOptions options;
  Api api;
  int driver;
  CUdevice device;
  Described about;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
};

Driver::Driver(DriverOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Driver::~Driver() = default;

std::unique_ptr<compiled::ModuleBuilder> Driver::build(const compiled::Wanted&) {
  return std::make_unique<TextBuilder>([&s = *state_](ModuleText text) {
    const Image image = s.options.image_of(text.text, s.about.capability);
    return std::make_unique<const DriverModule>(s.queue(), std::move(text), image);
  });
}

std::byte* Driver::allocate(std::size_t bytes) {
  state_->queue().enter();
  CUdeviceptr memory = 0;
  state_->api.check(state_->api.mem_alloc(&memory, bytes), fmt::format("cuMemAlloc of {} bytes", bytes));
  return std::bit_cast<std::byte*>(memory);
}

/// The driver waits until nobody uses the memory.
void Driver::release(std::byte* memory) noexcept {
  (void)state_->api.ctx_set_current(state_->context);
  (void)state_->api.stream_synchronize(state_->stream);
  (void)state_->api.mem_free(pointer(memory));
}

/// The driver has copied what lies in ordinary memory when the call returns.
void Driver::upload(std::byte* to, std::span<const std::byte> from) {
  state_->queue().enter();
  state_->api.check(state_->api.memcpy_to_device(pointer(to), from.data(), from.size(), state_->stream), fmt::format("cuMemcpyHtoDAsync of {} bytes", from.size()));
}

/// The copy itself waits for nothing: where something before it fails, no copy is under way to memory that the caller may give back.
void Driver::download(std::span<std::byte> to, const std::byte* from) {
  state_->queue().enter();
  state_->synchronize(fmt::format(" before a copy of {} bytes", to.size()));
  state_->api.check(state_->api.memcpy_to_host(to.data(), pointer(from), to.size()), fmt::format("cuMemcpyDtoH of {} bytes", to.size()));
}

void Driver::wait(compiled::Event) {
  state_->queue().enter();
  state_->synchronize("");
}

#else

struct Driver::State {};

namespace {

[[noreturn]] void refuse() { throw Unsupported("cuda: not in this build"); }

}  // namespace

std::vector<Described> described_devices(const std::string&) { refuse(); }
Driver::Driver(DriverOptions) { refuse(); }
Driver::~Driver() = default;
std::unique_ptr<compiled::ModuleBuilder> Driver::build(const compiled::Wanted&) { refuse(); }
std::byte* Driver::allocate(std::size_t) { refuse(); }
void Driver::release(std::byte*) noexcept {}
void Driver::upload(std::byte*, std::span<const std::byte>) { refuse(); }
void Driver::download(std::span<std::byte>, const std::byte*) { refuse(); }
void Driver::wait(compiled::Event) { refuse(); }

#endif

compiled::Machine Driver::machine() const { return cuda::machine; }

}  // namespace etalon::cuda
