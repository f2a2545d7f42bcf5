/// \file
/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): the counter-based generator behind the random primitive.
#pragma once

#include <array>
#include <cstdint>

namespace etalon::reference {

/// The block of four words for a counter and a key.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                                    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * counter[0];
    const std::uint64_t p1 = 0xCD9E8D57ULL * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

/// Word n of the stream: key = seed (low, high), counter = (low and high of n // 4, step, stream), word n % 4.
[[nodiscard]] constexpr std::uint32_t philox_word(std::uint64_t seed, std::uint64_t step, std::uint64_t stream,
                                                  std::uint64_t n) {
  const std::uint64_t block = n / 4;
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32U); };
  return philox4x32_10({low(block), high(block), low(step), low(stream)}, {low(seed), high(seed)})[n % 4];
}

}  // namespace etalon::reference
