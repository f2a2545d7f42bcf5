// Inputs in boxes: whatever point of the box is taken, what a conforming evaluation makes of it lies in the ranges.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "bounds_boxes.hpp"
#include "bounds_systems.hpp"
#include "bounds_trials.hpp"
#include "spec/error.hpp"
#include "tests/sanitized.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

template <class T>
void try_points(const spec::System& system, const Boxes& in, Narrowing narrowing, unsigned runs, std::mt19937& random, Tally& tally) {
  const std::vector<Combination> combinations = combinations_of(system, 20);
  const std::vector<OutputRange> found = reference::ranges(system, in.centres, in.boxes, {}, combinations, narrowing);
  for (unsigned run = 0; run < runs; ++run) {
    tally.hold(combinations, found, Simulator<T>(system, point_in(in, random), spec::Contract{}, run, Elements::stored).run());
  }
}

using Build = std::function<spec::System(DType)>;

template <class T>
std::size_t holds(const char* name, const Build& build, unsigned runs, double useful) {
  const spec::System system = build(dtype_of<T>);
  Tally tally;
  std::mt19937 random(3);
  for (const int family : {0, 3, 4}) {
    const auto centres = random_inputs(system, random, family);
    for (const double size : {0.0, 1e-6, 1e-3, 0.1}) {
      for (const Narrowing narrowing : narrowings) {
        try_points<T>(system, boxes_about(centres, size, family == 3 ? 0 : size), narrowing, runs, random, tally);
      }
    }
  }
  INFO(name << ": " << tally.comparisons << " comparisons, " << tally.outside << " outside, " << tally.open << " open");
  CHECK(tally.outside == 0);
  CHECK(static_cast<double>(tally.comparisons) > useful * static_cast<double>(tally.comparisons + tally.open));
  return tally.points;
}

/// Points of boxes about every system of the tests.
template <class T>
std::size_t all_hold(unsigned runs) {
  std::size_t points = 0;
  points += holds<T>("sum", [](DType d) { return sum_system(d, 17); }, runs, 0.9);
  points += holds<T>("linear", [](DType d) { return matmul_system(d, 2, 9, 3, true); }, runs, 0.9);
  points += holds<T>("softmax", [](DType d) { return softmax_system(d, 2, 5); }, runs, 0.9);
  points += holds<T>("log_softmax", [](DType d) { return log_softmax_system(d, 2, 5); }, runs, 0.9);
  points += holds<T>("layer_norm", [](DType d) { return layer_norm_system(d, 2, 6); }, runs, 0.3);
  points += holds<T>("chain", [](DType d) { return chain_system(d, 8); }, runs, 0.9);
  points += holds<T>("functions", [](DType d) { return functions_system(d, 6); }, runs, 0.3);
  points += holds<T>("cross_entropy", [](DType d) { return cross_entropy_system(d, 3, 7); }, runs, 0.9);
  points += holds<T>("hinge", [](DType d) { return hinge_vjp_system(d, 12); }, runs, 0.9);
  points += holds<T>("product", [](DType d) { return product_system(d, 5); }, runs, 0.1);
  return points;
}

/// y = value(x) of one number.
spec::System of_one(const std::function<Expr(const Expr&)>& value) {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  b.s.define(b.output("y", {}), {}, value(b.s.at(x, {})));
  return b.s;
}

OutputRange range_over(const spec::System& system, double lower, double upper, Narrowing narrowing) {
  const std::vector<HostTensor> inputs{HostTensor(DType::f32, {})};
  const std::vector<std::optional<Box>> boxes{Box{{lower}, {upper}}};
  const std::vector<Combination> wanted{{{0, 0, 1}}};
  return reference::ranges(system, inputs, boxes, {}, wanted, narrowing).front();
}

}  // namespace

TEMPLATE_TEST_CASE("what conforming evaluations make of points in boxes lies in the ranges", "[boxes]", float, double) {
  CHECK(all_hold<TestType>(test::sanitized ? 2 : 8) > 900);
}

// build/gcc/tests/test_reference "[million]"
TEMPLATE_TEST_CASE("a million points lie in the ranges", "[.][million]", float, double) {
  const std::size_t points = all_hold<TestType>(1050);
  WARN(points << " points");
  CHECK(points >= 500'000);
}

TEST_CASE("functions of one argument have the range that calculus gives them", "[boxes]") {
  const auto either = [](const Expr& x, Primitive p, const Expr& yes, const Expr& no) { return spec::select(spec::apply(p, {x, number(0)}), yes, no); };
  const auto width = [](const OutputRange& r) { return r.upper - r.lower; };
  for (const Narrowing narrowing : narrowings) {
    // x² - x on [0, 1] is from -1/4 to 0, where intervals say -1 to 1.
    const OutputRange parabola = range_over(of_one([](const Expr& x) { return x * x - x; }), 0, 1, narrowing);
    CHECK(parabola.lower <= -0.25);
    CHECK(parabola.upper >= 0);
    CHECK(width(parabola) < 0.3);
    // A kink: the larger of 0 and x.
    const OutputRange ramp = range_over(of_one([&](const Expr& x) { return either(x, Primitive::le, number(0), x); }), -1, 2, narrowing);
    CHECK(ramp.lower <= 0);
    CHECK(ramp.upper >= 2);
    CHECK(width(ramp) < 2.001);
    // A jump: the sign.
    const OutputRange jump = range_over(of_one([&](const Expr& x) { return either(x, Primitive::lt, number(-1), number(1)); }), -1, 2, narrowing);
    CHECK(jump.lower <= -1);
    CHECK(jump.upper >= 1);
    CHECK(width(jump) < 2.001);
    // On one side of it nothing is open.
    const OutputRange beyond = range_over(of_one([&](const Expr& x) { return either(x, Primitive::lt, number(-1), number(1)); }), 0.5, 2, narrowing);
    CHECK(beyond.lower == 1);
    CHECK(beyond.upper == 1);
    // exp(100) of the other branch is no number that counts.
    const OutputRange bent = range_over(of_one([&](const Expr& x) { return either(x, Primitive::gt, x, function(Primitive::exp, x) - number(1)); }), -1, 100, narrowing);
    CHECK(bent.lower <= -0.632);
    CHECK(width(bent) < 100.7);
    // What overflows, or has no value somewhere, is not bounded.
    const OutputRange huge = range_over(of_one([](const Expr& x) { return function(Primitive::exp, x); }), 0, 1000, narrowing);
    CHECK(std::isinf(huge.upper));
    const OutputRange undefined = range_over(of_one([](const Expr& x) { return function(Primitive::log, x); }), -1, 1, narrowing);
    CHECK((std::isinf(undefined.lower) && std::isinf(undefined.upper)));
  }
}

TEST_CASE("lines know that operands are the same, where boxes forget", "[boxes]") {
  // max(x, 0) - max(x - 1/1000, 0) for x from -1 to 2 is from 0 to 1/1000.
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto h = b.local("h", {2});
  const auto y = b.output("y", {});
  const auto i = b.bind(2);
  b.s.define(h, {i}, spec::apply(Primitive::maximum, {b.s.at(x, {}) - number(1e-3) * spec::as_real(spec::variable(i)), number(0)}));
  b.s.define(y, {}, b.s.at(h, {spec::integer(0)}) - b.s.at(h, {spec::integer(1)}));
  std::map<Narrowing, double> upper;
  for (const Narrowing narrowing : narrowings) upper[narrowing] = range_over(b.s, -1, 2, narrowing).upper;
  CHECK(upper[Narrowing::intervals] >= 2);
  CHECK(upper[Narrowing::lines] < 1.01);
  CHECK(upper[Narrowing::both] <= std::min(upper[Narrowing::lines], upper[Narrowing::sweep]));
  CHECK(upper[Narrowing::both] >= 1e-3);
}

TEST_CASE("boxes that fit no input are refused", "[boxes]") {
  const spec::System system = of_one([](const Expr& x) { return x; });
  CHECK_THROWS_AS(range_over(system, 2, 1, Narrowing::lines), SpecViolation);
  CHECK_THROWS_AS(range_over(system, 0, std::numeric_limits<double>::infinity(), Narrowing::lines), SpecViolation);
  CHECK_THROWS_AS(range_over(system, std::nan(""), 1, Narrowing::lines), SpecViolation);
  const std::vector<HostTensor> inputs{HostTensor(DType::f32, {})};
  const std::vector<Combination> beyond{{{0, 1, 1}}};
  CHECK_THROWS_AS(reference::ranges(system, inputs, {}, {}, beyond, Narrowing::lines), SpecViolation);
  const std::vector<std::optional<Box>> wrong{Box{{0, 0}, {1, 1}}};
  const std::vector<Combination> first{{{0, 0, 1}}};
  CHECK_THROWS_AS(reference::ranges(system, inputs, wrong, {}, first, Narrowing::lines), SpecViolation);
}

}  // namespace etalon
