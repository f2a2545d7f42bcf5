#include "spec/philox.hpp"

#include <catch2/catch.hpp>

using etalon::spec::philox4x32;
using etalon::spec::PhiloxBlock;

// The published vectors: Random123's kat_vectors, lines "philox4x32 10".
TEST_CASE("philox4x32_gives_the_published_known_answers", "[philox]") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U});
  CHECK(philox4x32({0xffffffffU, 0xffffffffU, 0xffffffffU, 0xffffffffU}, {0xffffffffU, 0xffffffffU}) ==
        PhiloxBlock{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU});
  CHECK(philox4x32({0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U}, {0xa4093822U, 0x299f31d0U}) ==
        PhiloxBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U});
}

TEST_CASE("a_word_of_a_stream_is_a_word_of_its_block", "[philox]") {
  const auto block = philox4x32({2, 1, 5, 9}, {0x89abcdefU, 0x01234567U});
  const std::uint64_t n = ((std::uint64_t{1} << 32U) + 2) * 4 + 3;
  CHECK(etalon::spec::philox_word(0x0123456789abcdefU, 5, 9, n) == block[3]);
}
