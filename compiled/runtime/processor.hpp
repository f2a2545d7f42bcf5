/// \file
/// The processor that this process runs on, as a device whose memory is the host's. It knows nothing of what programs mean.
#pragma once

#include <filesystem>

#include "compiled/emit/llvm/jit.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::compiled {

/// It has done what it was asked when a call returns, so that every event has passed.
class Processor final : public Device {
 public:
  /// As for Jit.
  explicit Processor(const Machine& most = machines::all.back(), const std::filesystem::path& cache = {}) : jit_(most, cache) {}

  [[nodiscard]] std::string_view name() const override { return "processor"; }
  [[nodiscard]] Machine machine() const override { return jit_.machine(); }
  [[nodiscard]] bool is_host() const override { return true; }
  [[nodiscard]] std::unique_ptr<ModuleBuilder> build(const Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(Event) override {}

 private:
  Jit jit_;
};

}  // namespace etalon::compiled
