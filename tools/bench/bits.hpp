/// \file
/// Whether a workload gives the same bits with every number of threads, width of vectors and size of the second cache. It measures no time
/// and prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiled/machine/machine.hpp"
#include "compiled/runtime/device.hpp"
#include "tools/bench/workload.hpp"

namespace etalon::bench {

/// What no bit may depend on.
struct Setting {
  unsigned threads = 1;
  compiled::Machine machine = compiled::machines::avx512;       ///< at most; a host may have less
  std::optional<std::int64_t> second_cache{};                   ///< bytes that are said to be there; nothing: what is
  std::shared_ptr<compiled::Device> device{};                   ///< that runs it; null: the processor, as that machine
};

/// `3 threads, avx2, 16384 KiB`, or the device's name.
[[nodiscard]] std::string to_text(const Setting& setting);

/// `avx512` or `avx2`: machines whose bits are the same. \throws SpecViolation naming both
[[nodiscard]] compiled::Machine machine_named(const std::string& name);

/// The first of each; then each of the others instead of it; then the last of all.
[[nodiscard]] std::vector<Setting> settings_of(std::span<const unsigned> threads, std::span<const compiled::Machine> machines,
                                               std::span<const std::int64_t> second_caches);

/// What one workload gave, compiled anew and run from the same inputs in each setting.
struct Bits {
  std::string workload;
  std::vector<Setting> settings;
  std::vector<std::string> hashes;  ///< per setting: SHA-256 over names, types and bytes of all that was compared
  std::string different;            ///< the first tensor that differs, with the setting and the byte; empty when all are equal
  std::size_t tensors = 0;          ///< compared per setting: outputs of every run, then the state after the last
  std::size_t bytes = 0;            ///< of them
  std::size_t kernels = 0;          ///< in the first setting
  std::size_t shared_kernels = 0;   ///< those that threads share: all of more than one block, however short; the others have nothing to share
  [[nodiscard]] bool equal() const { return different.empty(); }
};

/// So often is a program run, each time from the state that the last run left.
inline constexpr std::size_t runs_compared = 2;

/// Runs the workload's program in f32 from the inputs that the seed draws, in each setting.
/// \throws SpecViolation when no setting is given
[[nodiscard]] Bits bits_of(const Workload& workload, std::span<const Setting> settings, std::uint64_t seed);

using NamedTensor = std::pair<std::string, HostTensor>;

/// The first byte in which two lists of the same tensors differ, as `y, byte 3`; empty when none does.
[[nodiscard]] std::string first_difference(std::span<const NamedTensor> a, std::span<const NamedTensor> b);

/// One line: name, kernels shared, bytes, hash, and whether the bits are equal.
[[nodiscard]] std::string to_text(const Bits& found);

/// All of them as one JSON object, `{"schema": "etalon-bench-bits", "version": 2, "order", "seed", "equal", "workloads": […]}`.
void write_json(std::ostream& out, std::span<const Bits> found, std::uint64_t seed);

}  // namespace etalon::bench
