/// \file
/// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3" (SC 2011): the one source of randomness. It knows nothing of distributions.
#pragma once

#include <array>
#include <cstdint>

namespace etalon::spec {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// The generator's numbers, for all who write its code down once more.
inline constexpr std::uint32_t philox_multipliers[2] = {0xD2511F53U, 0xCD9E8D57U};
inline constexpr std::uint32_t philox_weyl[2] = {0x9E3779B9U, 0xBB67AE85U};
inline constexpr int philox_rounds = 10;

/// Ten rounds of Philox4x32 on a counter of four words with a key of two.
[[nodiscard]] constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < philox_rounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{philox_multipliers[0]} * counter[0];
    const std::uint64_t p1 = std::uint64_t{philox_multipliers[1]} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key = {key[0] + philox_weyl[0], key[1] + philox_weyl[1]};
  }
  return counter;
}

/// Word n of the stream (seed, step, stream), as the notation's `philox(seed, step, stream, n)`: key = seed, counter =
/// (n // 4 as two words, step, stream), word n % 4. All four are taken modulo their widths.
[[nodiscard]] constexpr std::uint32_t philox_word(std::uint64_t seed, std::uint64_t step, std::uint64_t stream,
                                                  std::uint64_t n) {
  const std::uint64_t block = n / 4;
  const PhiloxBlock counter{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U),
                            static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(stream)};
  return philox4x32(counter, {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)})[n % 4];
}

}  // namespace etalon::spec
