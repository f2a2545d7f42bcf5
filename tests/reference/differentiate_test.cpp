#include "reference/differentiate.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "reference/number.hpp"
#include "spec/error.hpp"

namespace {

using namespace etalon;
using namespace etalon::spec;
using reference::Array;
using reference::Rational;

constexpr double inf = std::numeric_limits<double>::infinity();
const Expr always = boolean(true);

/// y = f(x) for a scalar, and its slope by dual numbers with tangent 1.
template <class F>
double slope(double x, F f) {
  System s;
  const TensorId in = s.add_tensor("x", DType::f64, {});
  const TensorId out = s.add_tensor("y", DType::f64, {});
  s.inputs = {in};
  s.outputs = {out};
  s.define(out, {}, f(s.at(in, {})));
  const std::vector<Array<double>> inputs{Array<double>::of_reals({}, {x})};
  const std::vector<std::optional<Array<double>>> tangents{Array<double>::of_reals({}, {1})};
  return reference::jvp_by_definition<double>(s, inputs, tangents).tangents.at(0)->real.at(0);
}

Expr call(Primitive p, std::vector<Expr> args) { return apply(p, std::move(args)); }

}  // namespace

TEST_CASE("kinks have the stated derivatives", "[differentiate]") {
  const auto unary = [](Primitive p) { return [p](const Expr& x) { return call(p, {x}); }; };
  REQUIRE(slope(0, unary(Primitive::abs)) == 0);
  REQUIRE(slope(-3, unary(Primitive::abs)) == -1);
  REQUIRE(slope(2, unary(Primitive::sign)) == 0);
  REQUIRE(slope(2, unary(Primitive::floor)) == 0);
  const auto with_zero = [](Primitive p) { return [p](const Expr& x) { return call(p, {x, decimal(0)}); }; };
  REQUIRE(slope(0, with_zero(Primitive::maximum)) == 0.5);
  REQUIRE(slope(1, with_zero(Primitive::maximum)) == 1);
  REQUIRE(slope(-1, with_zero(Primitive::maximum)) == 0);
  REQUIRE(slope(0, with_zero(Primitive::minimum)) == 0.5);
  REQUIRE(slope(-1, with_zero(Primitive::minimum)) == 1);
  // NaN is neither larger nor equal, as the written derivative has it.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(slope(nan, with_zero(Primitive::maximum)) == 0);
  REQUIRE(slope(nan, with_zero(Primitive::minimum)) == 0);
  // maximum(x, x) is x: both halves add up.
  REQUIRE(slope(0, [](const Expr& x) { return call(Primitive::maximum, {x, x}); }) == 1);
}

TEST_CASE("powers are constant in a base to the zero and in an exponent of zero", "[differentiate]") {
  REQUIRE(slope(0, [](const Expr& x) { return call(Primitive::pow, {x, decimal(0)}); }) == 0);
  REQUIRE(slope(0, [](const Expr& x) { return call(Primitive::pow, {x, decimal(1)}); }) == 1);
  REQUIRE(slope(3, [](const Expr& x) { return call(Primitive::pow, {x, decimal(2)}); }) == 6);
  REQUIRE(slope(2, [](const Expr& x) { return call(Primitive::pow, {decimal(0), x}); }) == 0);
}

TEST_CASE("what does not depend never becomes NaN through an infinite slope", "[differentiate]") {
  // sqrt'(0) is infinite, but the constant in front hides nothing and detach cuts the path.
  REQUIRE(slope(0, [](const Expr& x) { return call(Primitive::sqrt, {x}); }) == inf);
  REQUIRE(slope(0, [](const Expr& x) { return x + call(Primitive::sqrt, {detach(x)}); }) == 1);
  REQUIRE(slope(0, [](const Expr& x) {
            return select(call(Primitive::gt, {x, decimal(0)}), call(Primitive::sqrt, {x}), decimal(0));
          }) == 0);
}

TEST_CASE("detach keeps the value and hides the tangent", "[differentiate]") {
  REQUIRE(slope(5, [](const Expr& x) { return x * detach(x); }) == 5);
}

TEST_CASE("the whole derivative of a maximum goes to the first of equals", "[differentiate]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::f64, {4});
  const TensorId y = s.add_tensor("y", DType::f64, {});
  s.inputs = {x};
  s.outputs = {y};
  const Binder k = s.bind("k", 4);
  s.define(y, {}, reduce(Reduction::max, {k}, always, s.at(x, {variable(k)})));
  const std::vector<Array<Rational>> inputs{Array<Rational>::of_reals({4}, {1, 7, 7, 3})};
  const std::vector<std::optional<Array<Rational>>> cotangents{Array<Rational>::of_reals({}, {Rational(2, 3)})};
  const auto back = reference::vjp_by_definition<Rational>(s, inputs, cotangents, {true});
  REQUIRE(back.at(0)->real == std::vector<Rational>{0, Rational(2, 3), 0, 0});
}

TEST_CASE("the transpose of a product has the other factor, and nothing for what is not asked", "[differentiate]") {
  // y0 = a·b, y1 = a + 3b; cotangents 5 and 7: a gets 5b + 7, b gets 5a + 21.
  System s;
  const TensorId a = s.add_tensor("a", DType::f64, {});
  const TensorId b = s.add_tensor("b", DType::f64, {});
  const TensorId y0 = s.add_tensor("y0", DType::f64, {});
  const TensorId y1 = s.add_tensor("y1", DType::f64, {});
  s.inputs = {a, b};
  s.outputs = {y0, y1};
  s.define(y0, {}, s.at(a, {}) * s.at(b, {}));
  s.define(y1, {}, s.at(a, {}) + decimal(3) * s.at(b, {}));
  const std::vector<Array<Rational>> inputs{Array<Rational>::of_reals({}, {2}),
                                            Array<Rational>::of_reals({}, {Rational(1, 5)})};
  const auto scalar = [](int v) { return std::optional(Array<Rational>::of_reals({}, {v})); };
  const auto both = reference::vjp_by_definition<Rational>(s, inputs, std::vector{scalar(5), scalar(7)}, {true, true});
  REQUIRE(both.at(0)->real.at(0) == 8);
  REQUIRE(both.at(1)->real.at(0) == 31);
  const auto one = reference::vjp_by_definition<Rational>(
      s, inputs, std::vector<std::optional<Array<Rational>>>{std::nullopt, scalar(7)}, {true, false});
  REQUIRE(one.at(0)->real.at(0) == 7);
  REQUIRE(!one.at(1));
}
