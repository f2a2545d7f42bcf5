/// \file
/// What decisions about loops need to know of a machine. It knows no instruction.
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

/// What a processor's vectors are like.
struct VectorUnit {
  std::string_view name;
  std::string_view model;          ///< as LLVM calls the least processor that has it
  unsigned lanes_f32 = 1;          ///< single-precision numbers in one vector; 1 when there are no vectors
  unsigned vector_registers = 16;
};

/// In the order of `vector_units`.
enum class VectorLevel : std::uint8_t { scalar, avx2, avx512 };
inline constexpr std::array vector_units{
    VectorUnit{"scalar", "x86-64", 1, 16},
    VectorUnit{"avx2", "haswell", 8, 16},
    VectorUnit{"avx512", "x86-64-v4", 16, 32},
};
[[nodiscard]] constexpr const VectorUnit& vector_unit(VectorLevel level) { return vector_units[static_cast<std::size_t>(level)]; }

/// The sizes of its caches are for the sizes of blocks and for what is fetched early, on which no bit depends.
struct Machine {
  unsigned lanes_f32 = 1;          ///< single-precision numbers in one vector; 1 when there are no vectors
  unsigned vector_registers = 16;
  std::int64_t near_bytes = usual_near_bytes;      ///< of the first-level cache
  std::int64_t middle_bytes = usual_middle_bytes;  ///< of the second-level cache
  std::int64_t last_bytes = std::int64_t{32} << 20;   ///< of the last cache before memory, which cores share
  std::int64_t block_threads = 0;  ///< threads of a block of a grid; 0: a processor with cores

  /// The profile whose bits it gives. One without vectors has no fused multiplication and addition either, and gives others.
  [[nodiscard]] constexpr std::string_view order_of_sums() const { return lanes_f32 > 1 ? order_profile : "of its own"; }
};

}  // namespace etalon::compiled
