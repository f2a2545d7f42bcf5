/// \file
/// A GPU of NVIDIA's through its driver, which is found when it is asked for: nothing is linked with it. It knows no program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/runtime/device.hpp"
#include "cuda/nvrtc.hpp"

namespace etalon::cuda {

/// Where the driver is, and who makes what it loads.
struct DriverOptions {
  std::string library = "libcuda.so.1";
  int device = 0;  ///< as the driver counts them
  std::function<Image(const std::string& text, int capability)> image_of = compile_for;
};

/// A device as its driver describes it.
struct Described {
  std::string name;
  int capability = 0;         ///< 10 major + minor
  std::size_t bytes = 0;      ///< of memory
  int driver = 0;             ///< the CUDA version that the driver is for: 1000 major + 10 minor
};

/// All devices of the driver. \throws Unsupported with the reason why there is none: this build is without the toolkit, there is no driver, it is older than the toolkit, it
///   finds no device
[[nodiscard]] std::vector<Described> described_devices(const std::string& library = DriverOptions{}.library);

/// Such a device. What it is asked waits in one stream, in order; kernels run one after the other.
class Driver final : public compiled::Device {
 public:
  /// \throws as described_devices
  explicit Driver(DriverOptions options = {});
  ~Driver() override;

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] compiled::Machine machine() const override;
  [[nodiscard]] bool is_host() const override { return false; }
  [[nodiscard]] std::unique_ptr<compiled::ModuleBuilder> build(const compiled::Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(compiled::Event event) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace etalon::cuda
