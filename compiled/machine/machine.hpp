/// \file
/// Machines as data: what decisions about loops, and the code for them, need to know of one. It knows no instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace etalon::compiled {

/// Caches as most machines have them. What becomes of the equations is decided for these: which sums fall into parts, and which
/// kernels there are, decides in which order terms are added, and no bit may depend on the host's caches.
inline constexpr std::int64_t usual_near_bytes = std::int64_t{48} << 10;
inline constexpr std::int64_t usual_middle_bytes = std::int64_t{1} << 20;

/// Profile `etalon-order-1`: which loops run in lanes, how many lanes a sum has, and which contractions run in tiles is decided as for
/// vectors of so many single-precision numbers. A machine with narrower ones takes several for one, so that bits are the same.
inline constexpr unsigned order_lanes_f32 = 16;
inline constexpr std::string_view order_profile = "etalon-order-1";

/// Numbers of one type in a vector.
struct VectorWidth {
  unsigned machine = 1;                ///< as the machine has them; 1 where it has none
  unsigned order = order_lanes_f32;    ///< as sums are ordered for
};

/// A machine. The sizes of its caches are for the sizes of blocks and for what is fetched early, on which no bit depends.
struct Machine {
  unsigned lanes_f32 = 1;          ///< single-precision numbers in one vector; 1 when there are no vectors
  unsigned vector_registers = 16;
  std::int64_t near_bytes = usual_near_bytes;      ///< of the first-level cache
  std::int64_t middle_bytes = usual_middle_bytes;  ///< of the second-level cache
  std::int64_t last_bytes = std::int64_t{32} << 20;   ///< of the last cache before memory, which cores share
  std::int64_t block_threads = 0;  ///< threads of a block of a grid; 0: a processor with cores
  std::int64_t multiprocessors = 0;  ///< of a grid: each runs some blocks at a time
  std::int64_t shared_bytes = 0;     ///< of a grid: memory that the threads of a block share, at most

  // For code.
  std::string_view name = "unnamed";
  std::string_view architecture{};  ///< the first part of LLVM's triple
  std::string_view model{};         ///< as LLVM calls the least processor that is one
  std::string_view features{};      ///< as LLVM calls what a processor has that is one, separated by commas; empty where all have it
  std::string_view functions{};     ///< how the mathematical library calls its variant for vectors; empty where there are none
  bool orders_streams = false;      ///< stores past the caches are in order once an instruction of its own says so
  std::array<std::string_view, 4> beyond{};  ///< features of which single instructions are, as LLVM calls them: those that the host has; empty texts behind them

  /// Its kernels are run by blocks of threads: what would be lanes of a vector are threads of a group.
  [[nodiscard]] constexpr bool is_grid() const { return block_threads != 0; }
  /// Vectors come with fused multiplication and addition.
  [[nodiscard]] constexpr bool has_vectors() const { return lanes_f32 > 1; }
  /// The profile whose bits it gives. One without vectors has no fused multiplication and addition either, and gives others.
  [[nodiscard]] constexpr std::string_view order_of_sums() const { return has_vectors() ? order_profile : "of its own"; }
};

/// Machines that code is made for; those of one architecture from the least to the most.
namespace machines {

inline constexpr Machine scalar{.name = "scalar", .architecture = "x86_64", .model = "x86-64"};
inline constexpr Machine avx2{.lanes_f32 = 8, .vector_registers = 16, .name = "avx2", .architecture = "x86_64", .model = "haswell",
                              .features = "avx2,fma", .functions = "avx2", .orders_streams = true};
inline constexpr Machine avx512{.lanes_f32 = 16, .vector_registers = 32, .name = "avx512", .architecture = "x86_64", .model = "x86-64-v4",
                                .features = "avx512f,avx512bw,avx512dq,avx512vl", .functions = "avx512f", .orders_streams = true};
inline constexpr Machine neon{.lanes_f32 = 4, .vector_registers = 32, .name = "neon", .architecture = "aarch64", .model = "cortex-a76",
                              .features = "neon", .functions = "advsimd"};

inline constexpr std::array all{scalar, avx2, avx512, neon};

}  // namespace machines

}  // namespace etalon::compiled
