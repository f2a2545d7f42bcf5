#include <catch2/catch.hpp>

#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "spec/library/operations.hpp"

namespace {

using namespace etalon;
using reference::Rational;
using reference::Tensor;
namespace hana = boost::hana;

template <class T, std::int64_t... Extents>
using At = Tensor<T, Shape<Extents...>>;

}  // namespace

TEST_CASE("the shape of a result is a type", "[typed]") {
  const At<Rational, 2, 3> a{1, 2, 3, 4, 5, 6};
  const At<Rational, 3, 1> b{1, Rational(1, 2), Rational(1, 3)};
  const auto y = ops::matmul(a, b);
  static_assert(std::is_same_v<decltype(y), const At<Rational, 2, 1>>);
  REQUIRE(y(0, 0) == 3);
  REQUIRE(y(1, 0) == Rational(17, 2));
}

TEST_CASE("plain numbers stand on either side of an operator", "[typed]") {
  const At<Rational, 2> x{3, Rational(1, 2)};
  const At<Rational, 2> y = 1 - 2 * x / 4 + x;
  REQUIRE(y.values() == std::vector<Rational>{Rational(5, 2), Rational(5, 4)});
  REQUIRE((-x)[0] == -3);
  const At<std::int64_t, 2> n{7, -1};
  const At<std::int64_t, 2> m = n * 2 + 1;
  REQUIRE(m.values() == std::vector<std::int64_t>{15, -1});
}

TEST_CASE("attributes stand in the text of the call, run-time ones beside it", "[typed]") {
  const At<double, 2, 3> x{1, 2, 3, 4, 5, 6};
  const auto rows = ops::sum.with<"axes=[1]">(x);
  static_assert(std::is_same_v<decltype(rows), const At<double, 2>>);
  REQUIRE(rows.values() == std::vector<double>{6, 15});
  const At<double, 1> p{1};
  const At<double, 1> g{2};
  const At<double, 1> m{0};
  const auto stepped = ops::sgd.set("lr", 0.25)(p, g, m, 1);
  static_assert(std::is_same_v<decltype(stepped), const hana::tuple<At<double, 1>, At<double, 1>>>);
  REQUIRE(hana::at_c<0>(stepped)[0] == 0.5);
}

TEST_CASE("packs, optional operands and truth values have their places", "[typed]") {
  const At<double, 1, 2> a{1, 2};
  const At<double, 2, 2> b{3, 4, 5, 6};
  const auto joined = ops::concat.with<"axis=0">(hana::make_tuple(a, b));
  static_assert(std::is_same_v<decltype(joined), const At<double, 3, 2>>);
  REQUIRE(joined.values() == std::vector<double>{1, 2, 3, 4, 5, 6});
  const At<double, 3, 2> w{1, 0, 0, 1, 1, 1};
  REQUIRE(ops::linear(a, w).values() == std::vector<double>{1, 2, 3});
  REQUIRE(ops::linear(a, w, spec::absent).values() == std::vector<double>{1, 2, 3});
  REQUIRE(ops::linear(a, w, At<double, 3>{1, 1, 1}).values() == std::vector<double>{2, 3, 4});
  REQUIRE(ops::where(At<bool, 2>{true, false}, a, 9).values() == std::vector<double>{1, 9});
}

TEST_CASE("a generic lambda is a program over any number type, and its derivatives are exact", "[typed]") {
  // y = Σ relu(x·w)², by hand: x·w = (1, -2)·w; w = (2, 1/2 | -1, 1): (4, -3/2) → relu (4, 0) → 16.
  const auto f = [](const auto& x, const auto& w) {
    const auto h = ops::relu(ops::matmul(x, w));
    return ops::sum(h * h);
  };
  const At<Rational, 1, 2> x{1, -2};
  const At<Rational, 2, 2> w{2, Rational(1, 2), -1, 1};
  REQUIRE(f(x, w)[0] == 16);
  const auto g = reference::gradient(f, x, w);
  // d/dh = 8 for the first unit, 0 for the second.
  REQUIRE(hana::at_c<0>(g).values() == std::vector<Rational>{16, -8});
  REQUIRE(hana::at_c<1>(g).values() == std::vector<Rational>{8, 0, -16, 0});
  const auto [y, dy] = reference::jvp(f, hana::make_tuple(x, w),
                                      hana::make_tuple(At<Rational, 1, 2>{1, 0}, At<Rational, 2, 2>{0, 0, 1, 0}));
  REQUIRE(y[0] == 16);
  REQUIRE(dy[0] == 16 - 16);
}

TEST_CASE("a vjp takes the cotangent of a result that is no scalar", "[typed]") {
  const At<Rational, 2> x{3, -1};
  const auto back = reference::vjp([](const auto& v) { return v * v * v; }, hana::make_tuple(x),
                                   At<Rational, 2>{Rational(1, 3), 2});
  REQUIRE(hana::at_c<0>(back).values() == std::vector<Rational>{9, 6});
}

TEST_CASE("a tensor takes one value per element", "[typed]") {
  REQUIRE_THROWS_WITH((At<double, 2, 3>{1, 2}), "tensor[2, 3]: 6 values expected, 2 given");
}
