// Numbers that are not 0 keep their distance from it, and what the inputs make is not said to.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/adequacy/gaps.hpp"
#include "tests/adequacy/reach.hpp"

using namespace etalon;
using spec::Expr;
using spec::Primitive;

namespace {

struct Numbers {
  spec::System system;
  spec::TensorId x = system.add_tensor("x", DType::f32, {}), t = system.add_tensor("t", DType::i64, {});

  Numbers() { system.inputs = {x, t}; }
  [[nodiscard]] Expr number() const { return system.at(x, {}); }
  [[nodiscard]] Expr power(double base) const {
    return spec::apply(Primitive::pow, {spec::binary64(base), spec::apply(Primitive::to_real, {system.at(t, {})})});
  }
  [[nodiscard]] double least(const Expr& e) const { return adequacy::least_unless_zero(system, e); }
};

}  // namespace

TEST_CASE("a sum with a constant is 0 or not much smaller than its last place", "[adequacy]") {
  const Numbers n;
  for (const double c : {1.0, -1.0, 1e-5, 1000.0, 0x1p-100}) {
    const auto near = static_cast<float>(-c);
    double least = std::numeric_limits<double>::infinity();
    for (const float x : {near, std::nextafterf(near, 2 * near), std::nextafterf(near, 0)}) {
      const double sum = static_cast<double>(x) + c;
      if (sum != 0) least = std::min(least, std::fabs(sum));
    }
    const double said = n.least(n.number() + spec::binary64(c));
    CHECK(said > 0);
    CHECK(said <= least);
  }
  CHECK(n.least(n.number() + spec::binary64(0)) == 0);
  CHECK(n.least(n.number()) == 0);
  CHECK(n.least(n.number() * n.number() + spec::binary64(1)) == 0);
  CHECK(n.least(n.number() + spec::decimal(1, -5)) == 0);  // which binary64 does not hold
}

TEST_CASE("1 less a whole power of a constant is 0 or as far from it as the first", "[adequacy]") {
  Numbers n;
  for (const double base : {0.999, 0.5, 0.0, -0.25, 1.5, -2.0, 1.0, -1.0}) {
    double least = std::numeric_limits<double>::infinity();
    for (int t = -40; t <= 40; ++t) {
      const double value = std::fabs(1 - std::pow(base, t));
      if (value != 0) least = std::min(least, value);
    }
    const double said = n.least(spec::decimal(1) - n.power(base));
    CHECK(said > 0);
    CHECK(said <= least);
  }
  CHECK(n.least(n.power(0.5) - spec::decimal(1)) == 0);
  CHECK(n.least(spec::decimal(2) - n.power(0.5)) == 0);
  const auto y = n.system.add_tensor("y", DType::f32, {});
  n.system.define(y, {}, spec::decimal(1) - n.power(0.5));
  CHECK(adequacy::least_unless_zero(n.system, y) == n.least(spec::decimal(1) - n.power(0.5)));
  CHECK(adequacy::least_unless_zero(n.system, n.x) == 0);
}

TEST_CASE("nothing lies between 0 and the least number that there can be", "[adequacy]") {
  const Numbers n;
  adequacy::Reaches reaches(n.system);
  const auto between = [](const Expr& e, double end) {
    return spec::apply(Primitive::lt, {e, spec::binary64(end)}) && spec::apply(Primitive::gt, {e, spec::decimal(0)});
  };
  CHECK(reaches.never(between(n.number() + spec::binary64(-1), 0x1p-126), {}, {}));
  CHECK_FALSE(reaches.never(between(n.number() + spec::binary64(-1), 0x1p-20), {}, {}));
  CHECK_FALSE(reaches.never(between(n.number(), 0x1p-126), {}, {}));
}
