/// \file
/// GPUs as data: what a multiprocessor holds, and how fast one chip of each compute capability moves and computes. It knows no program.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace etalon::cuda {

/// One product. What a multiprocessor holds follows from its compute capability (CUDA's programming guide and cuda_occupancy.h); how many
/// there are, and rates, are its data sheet's.
struct Gpu {
  int capability = 0;  ///< 10 major + minor
  std::string_view name;
  std::size_t multiprocessors = 0;

  // Of a multiprocessor.
  std::size_t threads = 0;       ///< at most, at one time
  std::size_t blocks = 32;       ///< at most, at one time
  std::size_t registers = 65536;
  std::size_t shared_bytes = 0;

  // Of a block.
  std::size_t block_shared_bytes = 0;           ///< at most, when asked for
  std::size_t kept_shared_bytes = 1024;         ///< that the system takes besides
  std::size_t block_threads = 1024;             ///< at most

  double bytes_per_second = 0;  ///< of its memory
  double f32_per_second = 0;    ///< operations, a fused multiplication and addition being two; no tensor cores

  [[nodiscard]] constexpr std::size_t all_threads() const { return multiprocessors * threads; }
};

/// Registers are given to warps in units, in each of a multiprocessor's parts; shared memory to blocks. The same from 8.0 to 12.0.
inline constexpr std::size_t warp_threads = 32;
inline constexpr std::size_t register_unit = 256;
inline constexpr std::size_t shared_unit = 128;
inline constexpr std::size_t multiprocessor_parts = 4;
inline constexpr std::size_t thread_registers = 255;

inline constexpr std::array gpus{
    Gpu{.capability = 80, .name = "A100 SXM 80 GB", .multiprocessors = 108, .threads = 2048, .shared_bytes = 164U << 10U,
        .block_shared_bytes = 163U << 10U, .bytes_per_second = 2.039e12, .f32_per_second = 19.5e12},
    Gpu{.capability = 90, .name = "H100 SXM", .multiprocessors = 132, .threads = 2048, .shared_bytes = 228U << 10U,
        .block_shared_bytes = 227U << 10U, .bytes_per_second = 3.35e12, .f32_per_second = 67e12},
    Gpu{.capability = 120, .name = "RTX 5090", .multiprocessors = 170, .threads = 1536, .blocks = 24, .shared_bytes = 100U << 10U,
        .block_shared_bytes = 99U << 10U, .bytes_per_second = 1.792e12, .f32_per_second = 104.8e12},
};

/// \param architecture such as `sm_90` or `sm_90a` \throws SpecViolation where there is none in the table
[[nodiscard]] const Gpu& gpu_of(std::string_view architecture);

}  // namespace etalon::cuda
