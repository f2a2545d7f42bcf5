/// \file
/// A device that runs CUDA C++ without a GPU: the text that NVRTC would get, compiled for this machine. Its memory is not the host's; what
/// may happen in any order happens in one that is drawn.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiled/runtime/device.hpp"
#include "cuda/emulator/memory.hpp"
#include "cuda/emulator/object.hpp"

namespace etalon::cuda::emulator {

/// What it was asked is done when a call returns. A run finds the arena and the outputs full of NaN.
class Emulator final : public compiled::Device {
 public:
  /// \param seed of all orders
  explicit Emulator(std::uint64_t seed = 1, compiled::source::CCompiler compiler = host_compiler());

  [[nodiscard]] std::string_view name() const override { return "cuda-emulated"; }
  [[nodiscard]] compiled::Machine machine() const override;
  [[nodiscard]] bool is_host() const override { return false; }
  [[nodiscard]] std::unique_ptr<compiled::ModuleBuilder> build(const compiled::Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(compiled::Event) override {}

  /// Compiles texts at once that programs will have soon: their builders find them.
  void prepare(std::span<const std::string> texts);
  /// Programs that would have that text have the other one, which was prepared: for tests that are to fail.
  void replace(const std::string& text, const std::string& other);
  /// How often the compiler was started.
  [[nodiscard]] std::size_t compilations() const { return compilations_; }

 private:
  class EmulatedModule;
  class EmulatedReplay;

  [[nodiscard]] std::shared_ptr<const Object> object_of(const std::string& text);

  compiled::source::CCompiler compiler_;
  std::mutex mutex_;  ///< one call at a time
  std::atomic<std::size_t> compilations_ = 0;
  Memory memory_;
  Course course_;
  std::unordered_map<std::string, std::shared_ptr<const Object>> prepared_;  ///< by their text
};

}  // namespace etalon::cuda::emulator
