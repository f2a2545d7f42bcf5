// Laws that tie operations together, exactly, over rationals.
#include <catch2/catch.hpp>
#include <numeric>

#include "calls.hpp"
#include "rational_programs.hpp"

using namespace etalon;
using namespace etalon::test;
using reference::Array;
using reference::Rational;

namespace {

Array<Rational> draw_array(const Dims& dims, conformance::Draw& draw) { return random_numbers(Kind::real, dims, draw); }

bool same(const Array<Rational>& a, const Array<Rational>& b) { return test::equal({a}, {b}) && a.size() > 0; }

Rational product(const Array<Rational>& a, const Array<Rational>& b) { return inner({a}, {b}); }

}  // namespace

TEST_CASE("views undo each other", "[laws]") {
  conformance::Draw draw("views");
  const auto x = draw_array({2, 3, 4}, draw);
  CHECK(same(result<Rational>("reshape", "shape=[2, 3, 4]", {result<Rational>("reshape", "shape=[4, 6]", {x})}), x));
  const auto turned = result<Rational>("transpose", "permutation=[2, 0, 1]", {x});
  CHECK_FALSE(turned.dims == x.dims);
  CHECK(same(result<Rational>("transpose", "permutation=[1, 2, 0]", {turned}), x));
  const auto flipped = result<Rational>("flip", "axes=[0, 2]", {x});
  CHECK_FALSE(same(flipped, x));
  CHECK(same(result<Rational>("flip", "axes=[0, 2]", {flipped}), x));
}

TEST_CASE("splitting undoes concatenation", "[laws]") {
  conformance::Draw draw("split");
  const Values<Rational> parts{draw_array({2, 1}, draw), draw_array({2, 3}, draw), draw_array({2, 2}, draw)};
  const auto whole = result<Rational>("concat", "axis=1", parts);
  const auto again = results<Rational>("split", "sizes=[1, 3, 2], axis=1", {whole});
  REQUIRE(again.size() == parts.size());
  CHECK(test::equal(again, parts));
}

TEST_CASE("a transposed convolution is the adjoint of the convolution", "[laws]") {
  conformance::Draw draw("adjoint convolution");
  for (const char* attributes : {"stride=2, padding=1", "dilation=2, padding=[1, 2]", "groups=2"}) {
    INFO(attributes);
    const auto x = draw_array({2, 4, 7, 5}, draw);
    const auto k = draw_array({6, std::string(attributes) == "groups=2" ? 2 : 4, 3, 3}, draw);
    const auto y = result<Rational>("conv", attributes, {x, k});
    const auto w = draw_array(y.dims, draw);
    auto back = std::string(attributes);
    if (back == "stride=2, padding=1") back += ", output_padding=0";
    CHECK(product(y, w) == product(x, result<Rational>("conv_transpose", back, {w, k})));
  }
}

TEST_CASE("a grouped convolution is a dense one with a block-diagonal kernel", "[laws]") {
  conformance::Draw draw("groups");
  const auto x = draw_array({1, 4, 5, 5}, draw);
  const auto k = draw_array({6, 2, 3, 3}, draw);
  Array<Rational> dense(Kind::real, {6, 4, 3, 3});
  for (std::size_t f = 0; f < 6; ++f) {
    for (std::size_t d = 0; d < 2; ++d) {
      for (std::size_t u = 0; u < 9; ++u) dense.real[(f * 4 + f / 3 * 2 + d) * 9 + u] = k.real[(f * 2 + d) * 9 + u];
    }
  }
  CHECK(same(result<Rational>("conv", "groups=2, padding=1", {x, k}), result<Rational>("conv", "padding=1", {x, dense})));
}

TEST_CASE("reading and adding at positions are adjoint", "[laws]") {
  conformance::Draw draw("positions");
  const auto x = draw_array({4, 3}, draw);
  // Duplicates accumulate, positions out of range read 0 and add nothing.
  const auto t = Array<Rational>::of_integers({5, 3}, {0, 3, 1, 0, -1, 2, 4, 2, 0, 0, 1, 1, 3, 3, 3});
  const auto w = draw_array({5, 3}, draw);
  const auto zero = Array<Rational>(Kind::real, {4, 3});
  const auto read = result<Rational>("take_along_axis", "axis=0", {x, t});
  CHECK(product(read, w) == product(x, result<Rational>("scatter_add_along_axis", "axis=0", {zero, t, w})));
}

TEST_CASE("gradient descent with momentum and a constant gradient has a closed form", "[laws]") {
  conformance::Draw draw("momentum");
  const Rational mu(1, 2), lr(1, 4);
  const auto g = draw_array({3}, draw);
  Array<Rational> p = draw_array({3}, draw), m(Kind::real, {3});
  const Array<Rational> p0 = p;
  Rational steps = 0, power = 1;
  for (std::int64_t t = 1; t <= 6; ++t) {
    const auto after = results<Rational>("sgd", "lr=0.25, momentum=0.5", {p, g, m, Array<Rational>::of_integers({}, {t})});
    p = after[0];
    m = after[1];
    power *= mu;
    const Rational velocity = (1 - power) / (1 - mu);
    steps += velocity;
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(m.real[i] == g.real[i] * velocity);
      CHECK(p.real[i] == p0.real[i] - lr * g.real[i] * steps);
    }
  }
}
