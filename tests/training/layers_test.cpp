// Layers, by what they must answer; that they train the same in every world stands in tests/three_ways.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "reference/defined.hpp"
#include "training/layers.hpp"
#include "tests/training/models.hpp"

namespace etalon::training {
namespace {

HostTensor matrix(std::int64_t rows, const std::vector<float>& values) {
  return HostTensor::of<float>({rows, static_cast<std::int64_t>(values.size()) / rows}, values);
}

const HostTensor identity = matrix(2, {1, 0, 0, 1});

HostTensor crossed(const HostTensor& x, const HostTensor& z, const HostTensor& queries, std::int64_t heads) {
  return define(layers::CrossAttentionText::text).set("heads", heads)(x, z, queries, identity, identity, identity);
}

}  // namespace

TEST_CASE("rows_that_ask_nothing_get_the_mean_of_the_others", "[layers]") {
  const HostTensor z = matrix(4, {1, 2, 3, 4, 5, 6, 7, 12});
  CHECK(crossed(matrix(1, {8, 9}), z, matrix(2, {0, 0, 0, 0}), 1) == matrix(1, {4, 6}));
  CHECK(crossed(matrix(1, {8, 9}), z, matrix(2, {0, 0, 0, 0}), 2) == matrix(1, {4, 6}));
}

TEST_CASE("each_head_gets_the_row_that_it_asks_for", "[layers]") {
  // Scores lie 1000 apart, so that in f32 one row has all the weight: of [1, 0] and [0, 1] the first for x = [1, -1] in both heads.
  const HostTensor answered = crossed(matrix(3, {1, -1, -1, 1, 1, 1}), identity, matrix(2, {1000, 0, 0, 1000}), 2);
  CHECK(answered == matrix(3, {1, 0, 0, 1, 1, 1}));
}

TEST_CASE("gains_start_at_one_other_vectors_at_zero_and_weights_are_drawn", "[layers]") {
  std::size_t gains = 0, vectors = 0, weights = 0;
  const auto count = [&](const std::string& path, const Parameter& p) {
    INFO(path);
    REQUIRE(p.initialiser);
    CHECK(p.decays == (p.dims.rank > 1));
    const bool gain = path.ends_with(".gain");
    CHECK(p.initialiser->operation == (p.dims.rank > 1 ? "xavier_uniform" : gain ? "ones" : "zeros"));
    ++(p.dims.rank > 1 ? weights : gain ? gains : vectors);
  };
  const auto translator = test::drawn<test::Translator<Declared>>();
  const auto recurrent = test::drawn<test::Recurrent<Declared>>();
  for_each_leaf(translator, count);
  for_each_leaf(recurrent, count);
  CHECK(gains == 6);
  CHECK(vectors == 5 + 4 + 4);
  CHECK(weights == 1 + 6 + 10 + 1 + 4);

  test::Mlp<Declared> own;
  own.hidden.bias = Declared<Shape<3>>(Initialiser{"ones"});
  CHECK(started<test::Mlp<Declared>>("zeros", own).hidden.bias.initialiser->operation == "ones");
}

}  // namespace etalon::training
