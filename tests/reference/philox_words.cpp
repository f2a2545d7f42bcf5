#include <catch2/catch.hpp>

#include "reference/evaluate.hpp"
#include "spec/philox.hpp"

TEST_CASE("the random primitive reads the published words", "[philox]") {
  // Seed, step and stream spell the third published vector; elements 4·b to 4·b + 3 are its block.
  using namespace etalon;
  using namespace etalon::spec;
  System s;
  const TensorId y = s.add_tensor("y", DType::i64, {4});
  s.outputs = {y};
  const std::vector<Binder> i = s.bind_all(y);
  const std::int64_t block = 0x05a308d3243f6a88;  // 4 · block + 3 must stay below 2^63, so the top bits are dropped
  const std::int64_t seed = 0x299f31d0a4093822;
  const Expr n = integer(4 * (block & 0x0fffffffffffffff)) + variable(i[0]);
  s.define(y, i, apply(Primitive::philox, {integer(seed), integer(0x13198a2e), integer(0x03707344), n}));
  const auto words = reference::evaluate<double>(s, {}).at(0).integer;
  const PhiloxBlock expected = philox4x32({0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
  REQUIRE(words == std::vector<std::int64_t>(expected.begin(), expected.end()));
}
