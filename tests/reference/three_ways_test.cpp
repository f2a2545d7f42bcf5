#include "three_ways.hpp"

#include <catch2/catch.hpp>

using namespace etalon;
using namespace etalon::spec;

namespace {

/// y = softplus-like and a product of both inputs, with a detached shift: smooth, and wrong if detach is not frozen.
System example(bool detached) {
  System s;
  const TensorId x = s.add_tensor("x", DType::f64, {3});
  const TensorId w = s.add_tensor("w", DType::f64, {3});
  const TensorId y = s.add_tensor("y", DType::f64, {3});
  s.inputs = {x, w};
  s.outputs = {y};
  const std::vector<Binder> i = s.bind_all(y);
  const Expr xi = s.at(x, variables(i));
  const Expr wi = s.at(w, variables(i));
  const Expr shift = detached ? detach(xi * wi) : xi * wi;
  s.define(y, i, shift * apply(Primitive::tanh, {xi}) + apply(Primitive::exp, {wi * xi}));
  return s;
}

test::Point point_of(const System& s, std::mt19937_64& engine) {
  test::Point p;
  for (const TensorId t : s.inputs) p.push_back(test::random_reals(s[t].dims, -1, 1, engine));
  return p;
}

}  // namespace

TEST_CASE("the three derivatives of a smooth system agree", "[three_ways]") {
  std::mt19937_64 engine(1);
  for (const bool detached : {false, true}) {
    const System s = example(detached);
    const test::Point p = point_of(s, engine);
    const test::Agreement first = test::tangents_agree(s, p, {0, 1}, engine, true);
    REQUIRE(first.disagreement.empty());
    REQUIRE(first.compared == 6);
    const test::Agreement transposed = test::cotangents_agree(s, p, {0, 1}, engine);
    REQUIRE(transposed.disagreement.empty());
    REQUIRE(transposed.compared == 6);
    const test::Agreement second = test::second_derivatives_agree(s, p, {0, 1}, engine, true);
    REQUIRE(second.disagreement.empty());
    REQUIRE(second.compared > 6);
  }
}

TEST_CASE("the comparison sees a derivative that is off in the fortieth digit of its terms", "[three_ways]") {
  // abs at 1e-35: the difference of step 1e-33 straddles the kink, the others do not.
  System s;
  const TensorId x = s.add_tensor("x", DType::f64, {1});
  const TensorId y = s.add_tensor("y", DType::f64, {1});
  s.inputs = {x};
  s.outputs = {y};
  const std::vector<Binder> i = s.bind_all(y);
  s.define(y, i, apply(Primitive::abs, {s.at(x, variables(i))}));
  const test::Point p{reference::Array<double>::of_reals({1}, {1e-35})};
  std::mt19937_64 engine(1);
  REQUIRE(!test::tangents_agree(s, p, {0}, engine, true).disagreement.empty());
  REQUIRE(test::tangents_agree(s, p, {0}, engine, false).disagreement.empty());
}
