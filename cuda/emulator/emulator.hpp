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
#include <vector>

#include "compiled/runtime/device.hpp"
#include "cuda/emulator/memory.hpp"
#include "cuda/emulator/object.hpp"

namespace etalon::cuda::emulator {

/// What it was asked is done when a call returns. A run finds the arena and the outputs full of NaN. Texts are compiled when one of them
/// runs first: that one and all others that wait, together, which takes a fraction of the time of one after the other. What the compiler says
/// of a text is thrown there.
class Emulator final : public compiled::Device {
 public:
  /// \param seed of all orders
  explicit Emulator(std::uint64_t seed = 1, compiled::source::CCompiler compiler = host_compiler());
  /// One that looks for races (races.hpp) and throws DeviceError for the first of a run, naming kernels, threads and lines. It takes some
  /// hundred times as long.
  struct LookingForRaces {};
  explicit Emulator(LookingForRaces, std::uint64_t seed = 1);

  [[nodiscard]] std::string_view name() const override { return "cuda-emulated"; }
  [[nodiscard]] compiled::Machine machine() const override;
  [[nodiscard]] bool is_host() const override { return false; }
  [[nodiscard]] std::unique_ptr<compiled::ModuleBuilder> build(const compiled::Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(compiled::Event) override {}

  /// Programs that would have that text have the other one, from now on: for tests that are to fail.
  void replace(const std::string& text, const std::string& other);
  /// How often the compiler was started.
  [[nodiscard]] std::size_t compilations() const { return compilations_; }

 private:
  class EmulatedModule;
  class EmulatedReplay;
  /// A text, and what it was compiled to, once it was.
  struct Code {
    std::string text;
    std::shared_ptr<const Object> object;
  };

  /// Programs of one text share it.
  [[nodiscard]] std::shared_ptr<Code> code_of(const std::string& text);
  /// Once the caller has the lock, as compiled(). \throws as compile
  void compile_waiting();
  [[nodiscard]] const Object& compiled(Code& code);

  compiled::source::CCompiler compiler_;
  std::mutex mutex_;  ///< one call at a time
  std::atomic<std::size_t> compilations_ = 0;
  Memory memory_;
  Course course_;
  std::unordered_map<std::string, std::weak_ptr<Code>> codes_;  ///< of modules that are there, by their text
  std::vector<std::weak_ptr<Code>> waiting_;                    ///< those that nobody ran
  std::unordered_map<std::string, std::string> replaced_;
};

}  // namespace etalon::cuda::emulator
