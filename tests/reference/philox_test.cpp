#include "reference/philox.hpp"

#include <catch2/catch.hpp>

// The known answers published with Random123 (kat_vectors, philox4x32 10 rounds).
TEST_CASE("philox gives the published known answers", "[philox]") {
  using Block = std::array<std::uint32_t, 4>;
  using etalon::reference::philox4x32_10;
  REQUIRE(philox4x32_10({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  REQUIRE(philox4x32_10({ones, ones, ones, ones}, {ones, ones}) ==
          Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  REQUIRE(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a word of the stream is found in its block", "[philox]") {
  // Key (1, 2), counter (2, 0, 7, 3): word 9 stands second in block 2.
  const auto block = etalon::reference::philox4x32_10({2, 0, 7, 3}, {1, 2});
  REQUIRE(etalon::reference::philox_word(0x0000000200000001ULL, 7, 3, 9) == block[1]);
}
