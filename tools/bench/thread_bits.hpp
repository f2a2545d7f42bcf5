/// \file
/// Whether a workload gives the same bits with every number of threads. It measures no time and prints nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/workload.hpp"

namespace etalon::bench {

/// What one workload gave, compiled anew and run from the same inputs for each number of threads.
struct ThreadBits {
  std::string workload;
  std::vector<unsigned> threads;
  std::vector<std::string> hashes;  ///< per number of threads: SHA-256 over names, types and bytes of all that was compared
  std::string different;            ///< the first tensor that differs, with the number of threads and the byte; empty when all are equal
  std::size_t tensors = 0;          ///< compared per number of threads: outputs of every run, then the state after the last
  std::size_t bytes = 0;            ///< of them
  std::size_t kernels = 0;
  std::size_t shared_kernels = 0;   ///< those that threads share: all of more than one block, however short; the others have nothing to share
  [[nodiscard]] bool equal() const { return different.empty(); }
};

/// So often is a program run, each time from the state that the last run left.
inline constexpr std::size_t runs_compared = 2;

/// Runs the workload's program in f32 from the inputs that the seed draws, with each number of threads.
/// \throws SpecViolation when no number of threads is given
[[nodiscard]] ThreadBits thread_bits(const Workload& workload, std::span<const unsigned> threads, std::uint64_t seed);

using NamedTensor = std::pair<std::string, HostTensor>;

/// The first byte in which two lists of the same tensors differ, as `y, byte 3`; empty when none does.
[[nodiscard]] std::string first_difference(std::span<const NamedTensor> a, std::span<const NamedTensor> b);

/// One line: name, kernels shared, bytes, hash, and whether the bits are equal.
[[nodiscard]] std::string to_text(const ThreadBits& found);

/// All of them as one JSON object, `{"schema": "etalon-bench-bits", "version": 1, "seed", "equal", "workloads": […]}`.
void write_json(std::ostream& out, std::span<const ThreadBits> found, std::uint64_t seed);

}  // namespace etalon::bench
