/// \file
/// A processor of another kind than this one, as a device: kernels are compiled for it, linked with a small program that runs their
/// script, and run by QEMU. Copies are those of a device with memory of its own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "compiled/machine/machine.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::test {

/// What it takes.
struct EmulatorTools {
  std::string compiler = "aarch64-linux-gnu-gcc";
  std::string emulator = "qemu-aarch64";
  std::filesystem::path libraries = "/usr/aarch64-linux-gnu";  ///< the machine's own, for programs that load some
  std::filesystem::path functions = ETALON_SLEEF_AARCH64;      ///< the mathematical library for that machine; empty where it is not here

  /// Of these commands, the first that is not there; empty where all are.
  [[nodiscard]] std::string missing() const;
};

/// One thread at a time.
class EmulatedDevice final : public compiled::Device {
 public:
  EmulatedDevice(const compiled::Machine& machine, EmulatorTools tools);
  ~EmulatedDevice() override;

  [[nodiscard]] bool has_functions() const { return !tools_.functions.empty(); }
  /// Scripts that the emulator has run.
  [[nodiscard]] std::size_t runs() const { return runs_; }

  [[nodiscard]] std::string_view name() const override { return machine_.name; }
  [[nodiscard]] compiled::Machine machine() const override { return machine_; }
  [[nodiscard]] bool is_host() const override { return false; }
  [[nodiscard]] std::unique_ptr<compiled::ModuleBuilder> build(const compiled::Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(compiled::Event) override {}

 private:
  class CrossBuilder;
  class LinkedModule;
  class EmulatedReplay;

  /// \throws DeviceError
  void command(const std::string& line) const;

  compiled::Machine machine_;
  EmulatorTools tools_;
  std::filesystem::path folder_;  ///< programs and what they read and write
  std::size_t programs_ = 0;
  std::size_t runs_ = 0;
};

/// Such a device with what there is. Where one is missing the process ends with the status of a test that is skipped, 77, and says why.
[[nodiscard]] std::shared_ptr<EmulatedDevice> emulated_or_skipped(const compiled::Machine& machine);

}  // namespace etalon::test
