// Where the text of an equation rounds more than once both neighbours of the exact result conform; where it rounds once
// IEEE 754 has one answer, and where it only moves numbers they stay.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "bounds_systems.hpp"
#include "reference/bounds/envelope.hpp"
#include "reference/bounds/roundings.hpp"
#include "spec/half.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

/// y[] = what the text makes of x[] and z[].
spec::System text(DType dtype, const std::function<Expr(Expr, Expr)>& value) {
  Builder b(dtype);
  const auto x = b.input("x", {});
  const auto z = b.input("z", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, value(b.at(x), b.at(z)));
  return b.s;
}

HostTensor scalar(DType dtype, double value) {
  HostTensor t(dtype, {});
  if (dtype == DType::f64) t.view<double>()[0] = value;
  else if (dtype == DType::f32) t.view<float>()[0] = static_cast<float>(value);
  else t.view<std::uint16_t>()[0] = spec::nearest_half(value, dtype);
  return t;
}

/// A number with ten significant bits, so that every format but bf16 holds it.
double drawn(std::mt19937& generator, double below) {
  return std::ldexp(std::floor(below * 512 * std::generate_canonical<double, 32>(generator)), -9) + 1;
}

bool admits(const spec::System& s, DType dtype, double x, double z, double got) {
  const spec::Contract contract;
  const auto e = reference::envelopes(s, std::vector{scalar(dtype, x), scalar(dtype, z)}, contract);
  const auto verdict = reference::judge(scalar(dtype, got), e.outputs[0]);
  REQUIRE(verdict.comparisons == 1);
  return verdict.passed();
}

/// The neighbours of an exact result that the format does not hold, and those one further away.
struct Around {
  double lower = 0, upper = 0, below = 0, above = 0;
};

Around around(long double exact, DType dtype) {
  const int grid = std::ilogb(exact) - spec::format_of(dtype).precision + 1;
  const long double units = std::floor(std::ldexp(exact, -grid));
  const auto at = [&](int n) { return static_cast<double>(std::ldexp(units + static_cast<long double>(n), grid)); };
  return {at(0), at(1), at(-1), at(2)};
}

const auto types = {DType::f16, DType::f32, DType::f64};

TEST_CASE("both neighbours conform where a text rounds more than once", "[bounds]") {
  std::mt19937 generator(7);
  int checked = 0;
  for (const DType dtype : types) {
    const spec::System s = text(dtype, [](const Expr& x, const Expr& z) { return x + function(Primitive::exp, z); });
    for (int trial = 0; trial < 40; ++trial) {
      const double x = drawn(generator, 1);
      const double z = dtype == DType::f16 ? -drawn(generator, 1) - 7 : -drawn(generator, 4) - 9;
      const Around next = around(static_cast<long double>(x) + std::exp(static_cast<long double>(z)), dtype);
      INFO(name_of(dtype) << " x " << x << " z " << z);
      CHECK(admits(s, dtype, x, z, next.lower));
      CHECK(admits(s, dtype, x, z, next.upper));
      CHECK_FALSE(admits(s, dtype, x, z, next.below));
      CHECK_FALSE(admits(s, dtype, x, z, next.above));
      ++checked;
    }
  }
  CHECK(checked == 120);
}

TEST_CASE("one rounding has one answer", "[bounds]") {
  std::mt19937 generator(8);
  int checked = 0;
  const auto product = [](const Expr& x, const Expr& z) { return x * z; };
  const auto doubled = [](const Expr& x, const Expr& z) { return number(-2) * (x * z); };
  for (const DType dtype : types) {
    for (int trial = 0; trial < 40; ++trial) {
      const double x = drawn(generator, 1);
      const double z = std::nextafter(1.5, 2) * (dtype == DType::f64 ? 1 : 0) + (dtype == DType::f64 ? 0 : drawn(generator, 1));
      const long double exact = static_cast<long double>(x) * static_cast<long double>(z);
      const Around next = around(exact, dtype);
      const long double down = exact - static_cast<long double>(next.lower);
      const long double up = static_cast<long double>(next.upper) - exact;
      if (down == 0 || down == up) continue;
      const double nearest = down < up ? next.lower : next.upper;
      const double other = down < up ? next.upper : next.lower;
      INFO(name_of(dtype) << " x " << x << " z " << z);
      CHECK(admits(text(dtype, product), dtype, x, z, nearest));
      CHECK_FALSE(admits(text(dtype, product), dtype, x, z, other));
      CHECK(admits(text(dtype, doubled), dtype, x, z, -2 * nearest));
      CHECK_FALSE(admits(text(dtype, doubled), dtype, x, z, -2 * other));
      ++checked;
    }
  }
  CHECK(checked > 30);
}

TEST_CASE("what a text moves or makes exactly stays, however often the text rounds", "[bounds]") {
  const auto chosen = [](const Expr& x, const Expr& z) {
    return spec::select(spec::apply(Primitive::gt, {x, number(0)}), x, x * z + z * z);
  };
  const double x = 1.25;
  CHECK(admits(text(DType::f32, chosen), DType::f32, x, 3, x));
  CHECK_FALSE(admits(text(DType::f32, chosen), DType::f32, x, 3, std::nextafter(1.25F, 2.0F)));
  // 3 · 0.75 + 9 is a number of the format, in any order.
  CHECK(admits(text(DType::f32, chosen), DType::f32, -0.75, 3, 6.75));
  CHECK_FALSE(admits(text(DType::f32, chosen), DType::f32, -0.75, 3, std::nextafter(6.75F, 7.0F)));
}

TEST_CASE("roundings are counted by the form of a text", "[bounds]") {
  const auto count = [](const std::function<Expr(Expr, Expr)>& value) {
    return static_cast<int>(reference::bounds::roundings_of_texts(text(DType::f32, value)).back());
  };
  CHECK(count([](const Expr& x, const Expr&) { return -x; }) == 0);
  CHECK(count([](const Expr& x, const Expr& z) { return spec::apply(Primitive::maximum, {x, -z}); }) == 0);
  CHECK(count([](const Expr& x, const Expr&) { return x / number(8); }) == 0);
  CHECK(count([](const Expr& x, const Expr&) { return number(3) * x; }) == 1);
  CHECK(count([](const Expr& x, const Expr&) { return x * spec::decimal(1, -1); }) == 2);
  CHECK(count([](const Expr& x, const Expr&) { return function(Primitive::tanh, x); }) == 1);
  CHECK(count([](const Expr& x, const Expr& z) { return x * z + z; }) == 2);
  for (const auto& [n, roundings] : {std::pair<std::int64_t, int>{1, 0}, {2, 1}, {3, 2}}) {
    CHECK(reference::bounds::roundings_of_texts(sum_system(DType::f32, n)).back() == roundings);
  }
}

TEST_CASE("a sum of doubles that is stored in single precision rounds twice", "[bounds]") {
  Builder b(DType::f64);
  const auto x = b.input("x", {});
  const auto z = b.input("z", {});
  b.dtype = DType::f32;
  const auto y = b.output("y", {});
  b.s.define(y, {}, b.at(x) + b.at(z));
  CHECK(reference::bounds::roundings_of_texts(b.s).back() == 2);
}

}  // namespace
}  // namespace etalon
