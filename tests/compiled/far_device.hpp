/// \file
/// A device for tests whose memory is not the host's: the host may not touch it, it holds NaN until it is written, what is copied is
/// counted, work is done as late as may be and in any order that a script allows, and every call may fail.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "compiled/emit/llvm/jit.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::test {

/// Kernels are the processor's. One thread at a time.
class FarDevice final : public compiled::Device {
 public:
  /// \param seed of the order in which commands run that do not wait for each other
  explicit FarDevice(std::uint32_t seed, std::string name = "far") : draw_(seed), name_(std::move(name)) {}
  ~FarDevice() override;

  struct Counts {
    std::size_t uploaded = 0;    ///< bytes
    std::size_t downloaded = 0;  ///< bytes
    std::size_t scripts = 0;     ///< that were run
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// Since it was asked last.
  [[nodiscard]] Counts counts() { return std::exchange(counts_, {}); }
  /// Blocks of memory that nobody has given back, once all work is done.
  [[nodiscard]] std::size_t blocks();

  /// Has one call fail, and no other: 0 is the next one. Nothing: none fails.
  void fail_at(std::optional<std::size_t> call) { fails_in_ = call; }
  /// Whether a fault that was asked for is still to come.
  [[nodiscard]] bool will_fail() const { return fails_in_.has_value(); }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] compiled::Machine machine() const override { return jit_.machine(); }
  [[nodiscard]] bool is_host() const override { return false; }
  [[nodiscard]] std::unique_ptr<compiled::ModuleBuilder> build(const compiled::Wanted& wanted) override;
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void wait(compiled::Event event) override;

 private:
  struct Loaded;
  class FarBuilder;
  class FarModule;
  class FarReplay;

  void call(const std::string& what);
  std::uint64_t later(std::function<void()> work);
  void work_until(std::uint64_t number);
  void protect(bool closed) const;

  compiled::Jit jit_;
  std::mt19937 draw_;
  std::string name_;
  Counts counts_;
  std::optional<std::size_t> fails_in_;
  std::map<std::byte*, std::size_t> blocks_;  ///< and their bytes
  std::deque<std::function<void()>> waiting_;
  std::uint64_t done_ = 0;
};

}  // namespace etalon::test
