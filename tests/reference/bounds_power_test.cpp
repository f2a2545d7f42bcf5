// What does not conform is outside, on inputs designed so that it must be.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "bounds_judged.hpp"
#include "bounds_systems.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

/// Rounded to `bits` significant bits, ties to even.
float rounded_to(float x, int bits) {
  if (x == 0) return 0;
  int exponent = 0;
  const float m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

std::vector<float> lattice(std::mt19937& random, std::size_t n, int largest) {
  std::vector<float> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(static_cast<float>(static_cast<int>(random() % static_cast<unsigned>(2 * largest + 1)) - largest));
  return x;
}

/// The smallest and the largest number of the type in the interval.
std::vector<double> outermost(DType dtype, double lower, double upper) {
  if (dtype == DType::f64) return {lower, upper};
  float first = static_cast<float>(lower), last = static_cast<float>(upper);
  if (static_cast<double>(first) < lower) first = std::nextafter(first, INFINITY);
  if (static_cast<double>(last) > upper) last = std::nextafter(last, -INFINITY);
  return {static_cast<double>(first), static_cast<double>(last)};
}

}  // namespace

TEST_CASE("operands rounded to eleven bits are outside on odd twelve-bit integers", "[bounds][power]") {
  std::mt19937 random(1);
  for (const std::size_t n : {8U, 64U, 512U, 4096U}) {
    std::vector<float> a;
    std::vector<float> w;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(static_cast<float>(2049 + 2 * static_cast<int>(random() % 1023)));
      w.push_back(static_cast<float>(static_cast<int>(random() % 3) - 1));
    }
    w[0] = 1;
    float right = 0;
    float wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      right += a[i] * w[i];
      wrong += rounded_to(a[i], 11) * w[i];
    }
    const auto dims = static_cast<std::int64_t>(n);
    const auto system = matmul_system(DType::f32, 1, dims, 1);
    const auto bounds = reference::envelopes(system, std::vector{f32({1, dims}, a), f32({dims, 1}, w)}, spec::Contract{});
    CHECK(bounds.outputs[0].lower[0] == bounds.outputs[0].upper[0]);
    CHECK(reference::judge(f32({1, 1}, {right}), bounds.outputs[0]).passed());
    REQUIRE(wrong != right);
    const auto verdict = reference::judge(f32({1, 1}, {wrong}), bounds.outputs[0]);
    CHECK_FALSE(verdict.passed());
    CHECK(verdict.comparisons == 1);
    CHECK(verdict.worst_ratio == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("the same operands are inside under a contract that declares eleven bits", "[bounds][power]") {
  spec::Contract contract;
  contract.product_operand_precision = 11;
  const std::vector<float> a{2049, 2051, 4095};
  const auto system = matmul_system(DType::f32, 1, 3, 1);
  const auto bounds = reference::envelopes(system, std::vector{f32({1, 3}, a), f32({3, 1}, {1, 1, -1})}, contract);
  const float tf32 = rounded_to(a[0], 11) + rounded_to(a[1], 11) - rounded_to(a[2], 11);
  CHECK(reference::judge(f32({1, 1}, {tf32}), bounds.outputs[0]).passed());
  CHECK_FALSE(reference::judge(f32({1, 1}, {tf32 + 100}), bounds.outputs[0]).passed());
}

TEST_CASE("a dropped last term is outside", "[bounds][power]") {
  std::mt19937 random(2);
  for (const std::size_t n : {2U, 64U, 4096U}) {
    auto x = lattice(random, n, 1000);
    x.back() = 3;
    float total = 0;
    for (const float v : x) total += v;
    const auto system = sum_system(DType::f32, static_cast<std::int64_t>(n));
    const std::vector inputs{f32({static_cast<std::int64_t>(n)}, x)};
    CHECK(judge_scalar(system, inputs, total).passed());
    CHECK_FALSE(judge_scalar(system, inputs, total - 3).passed());
  }
  std::vector<float> x(512);
  std::normal_distribution<float> normal;
  float total = 0;
  for (float& v : x) total += v = normal(random);
  CHECK_FALSE(judge_scalar(sum_system(DType::f32, 512), {f32({512}, x)}, total - x.back()).passed());
}

TEST_CASE("accumulation in eight bits is outside on a lattice that fills the budget", "[bounds][power]") {
  std::mt19937 random(3);
  const auto x = lattice(random, 1024, 16383);
  float right = 0;
  float wrong = 0;
  for (const float v : x) {
    right += v;
    wrong = rounded_to(wrong + v, 8);
  }
  const std::vector inputs{f32({1024}, x)};
  CHECK(judge_scalar(sum_system(DType::f32, 1024), inputs, right).passed());
  CHECK_FALSE(judge_scalar(sum_system(DType::f32, 1024), inputs, wrong).passed());
}

TEST_CASE("a layer norm without eps is outside on rows of small spread", "[bounds][power]") {
  const std::vector<float> x{0.01F, -0.01F, 0.02F, -0.02F};
  const std::vector<float> one(4, 1.0F);
  const std::vector<float> zero(4, 0.0F);
  const std::vector inputs{f32({1, 4}, x), f32({4}, one), f32({4}, zero)};
  const auto right = reference::envelopes(layer_norm_system(DType::f32, 1, 4), inputs, spec::Contract{});
  const auto wrong = reference::envelopes(layer_norm_system(DType::f32, 1, 4, 0), inputs, spec::Contract{});
  std::vector<float> with;
  std::vector<float> without;
  for (std::size_t i = 0; i < 4; ++i) {
    with.push_back(static_cast<float>(right.outputs[0].reference[i]));
    without.push_back(static_cast<float>(wrong.outputs[0].reference[i]));
  }
  CHECK(reference::judge(f32({1, 4}, with), right.outputs[0]).passed());
  CHECK_FALSE(reference::judge(f32({1, 4}, without), right.outputs[0]).passed());
}

TEST_CASE("a decision on a computed value is accepted jointly or not at all", "[bounds][power]") {
  // 1 - t·x is 2^-48·(…) in exact arithmetic and may round to zero: value and cotangent must take the same side.
  const float t = 1 + 0x1p-23F;
  const float x = 1 - 0x1p-23F;
  const auto system = hinge_vjp_system(DType::f32, 1);
  const auto bounds = reference::envelopes(system, std::vector{f32({1}, {x}), f32({1}, {t})}, spec::Contract{});
  REQUIRE(bounds.open_decisions > 0);
  const float fused = std::fma(-t, x, 1.0F);
  const auto verdict = [&](float y, float dx) {
    return reference::judge(std::vector{f32({1}, {y}), f32({1}, {dx})}, bounds);
  };
  REQUIRE(fused > 0);
  CHECK(verdict(fused, -t).passed());
  CHECK(verdict(0, 0).passed());
  CHECK_FALSE(verdict(0, -t / 2).passed());
  CHECK(verdict(0, -t / 2).comparisons == 2);
}

TEST_CASE("points are never ambiguous", "[bounds][power]") {
  const auto system = hinge_vjp_system(DType::f32, 3);
  const auto bounds = reference::envelopes(system, std::vector{f32({3}, {1, 2, -1}), f32({3}, {1, 1, 1})}, spec::Contract{});
  CHECK(bounds.open_decisions == 0);
  CHECK(reference::judge(f32({3}, {0, 0, -1}), bounds.outputs[1]).passed());
  CHECK_FALSE(reference::judge(f32({3}, {-1, 0, -1}), bounds.outputs[1]).passed());
}

TEST_CASE("special values are judged by class", "[bounds][power]") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto system = sum_system(DType::f32, 2);
  const auto sum = [&](float a, float b) { return std::vector{f32({2}, {a, b})}; };
  CHECK(judge_scalar(system, sum(inf, 1), inf).passed());
  CHECK_FALSE(judge_scalar(system, sum(inf, 1), -inf).passed());
  CHECK_FALSE(judge_scalar(system, sum(inf, 1), 3e38F).passed());
  CHECK(judge_scalar(system, sum(inf, -inf), nan).passed());
  CHECK_FALSE(judge_scalar(system, sum(inf, -inf), 0).passed());
  CHECK(judge_scalar(system, sum(3e38F, 3e38F), inf).passed());
  CHECK_FALSE(judge_scalar(system, sum(3e38F, 3e38F), 3e38F).passed());
  CHECK_FALSE(judge_scalar(system, sum(1, 2), nan).passed());
  CHECK_FALSE(judge_scalar(system, sum(1, 2), inf).passed());
}

TEST_CASE("a term that the constant 0 multiplies may be left out", "[bounds]") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float operand : {inf, -inf, nan}) {
    INFO(operand);
    Builder b(DType::f32);
    const auto x = b.input("x", {2});
    const auto y = b.output("y", {});
    b.s.define(y, {}, b.s.at(x, {spec::integer(0)}) + spec::decimal(0) * b.s.at(x, {spec::integer(1)}));
    const std::vector inputs{f32({2}, {3, operand})};
    CHECK(judge_scalar(b.s, inputs, 3).passed());
    CHECK(judge_scalar(b.s, inputs, nan).passed());
    CHECK_FALSE(judge_scalar(b.s, inputs, 0).passed());
    CHECK_FALSE(judge_scalar(b.s, inputs, inf).passed());
    // A zero among the operands leaves nothing out.
    Builder c(DType::f32);
    const auto u = c.input("u", {2});
    const auto v = c.output("v", {});
    c.s.define(v, {}, c.s.at(u, {spec::integer(0)}) * c.s.at(u, {spec::integer(1)}));
    const std::vector zero{f32({2}, {0, operand})};
    CHECK(judge_scalar(c.s, zero, nan).passed());
    CHECK_FALSE(judge_scalar(c.s, zero, 0).passed());
  }
}

TEST_CASE("what is computed anew where it is read joins the reader's product", "[bounds]") {
  // m = d/c is a result, and q = l·m; l·d first loses what d/c does not.
  Builder b(DType::f32);
  const auto d = b.input("d", {});
  const auto c = b.input("c", {});
  const auto l = b.input("l", {});
  const auto m = b.output("m", {});
  const auto q = b.output("q", {});
  b.s.define(m, {}, b.at(d) / b.at(c));
  b.s.define(q, {}, b.at(l) * b.at(m));
  const float numbers[] = {3.67759291e-39F, 1e-8F, 1e-3F};
  const std::vector inputs{f32({}, {numbers[0]}), f32({}, {numbers[1]}), f32({}, {numbers[2]})};
  const float first = numbers[2] * numbers[0] / numbers[1];
  const spec::Contract contract;
  const auto stored = reference::envelopes(b.s, inputs, contract);
  const auto anew = reference::envelopes(reference::with_recomputed_elements(b.s), inputs, contract);
  CHECK_FALSE(reference::judge(f32({}, {first}), stored.outputs[1]).passed());
  CHECK(reference::judge(f32({}, {first}), anew.outputs[1]).passed());
  CHECK_FALSE(reference::judge(f32({}, {first * 1.01F}), anew.outputs[1]).passed());
  CHECK(stored.outputs[0].lower == anew.outputs[0].lower);
  CHECK(stored.outputs[0].upper == anew.outputs[0].upper);
}

TEST_CASE("a power is exact where the exponent or the base is zero, and nowhere else", "[bounds]") {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto p = b.input("p", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, spec::apply(Primitive::pow, {b.at(x), b.at(p)}));
  const auto passes = [&](float base, float exponent, float got) {
    return judge_scalar(b.s, {f32({}, {base}), f32({}, {exponent})}, got).passed();
  };
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(passes(3, 0, 1));
  CHECK_FALSE(passes(3, 0, std::nextafter(1.0F, 2.0F)));
  CHECK(passes(0, 3, 0));
  CHECK_FALSE(passes(0, 3, least));
  // An ulp is promised, so that the largest number to the power 1 may overflow.
  CHECK(passes(3, 1, 3));
  CHECK(passes(3, 1, std::nextafter(3.0F, 4.0F)));
  CHECK_FALSE(passes(3, 1, 3.00001F));
  CHECK(passes(most, 1, most));
  CHECK(passes(most, 1, std::numeric_limits<float>::infinity()));
  // What vanishes may be the smallest number, whatever the exponent; more it may not be.
  CHECK(passes(most, -most, 0));
  CHECK(passes(most, -most, least));
  CHECK_FALSE(passes(most, -most, 4 * least));
}

TEST_CASE("a sum that cancels inside a product is judged by what it was added up from", "[bounds][power]") {
  // Its value is 0 ± u·|w·x|: that is not nothing, and much less than w·x.
  Builder b(DType::f32);
  const auto x = b.input("x", {2});
  const auto w = b.input("w", {2});
  const auto d = b.local("d", {2});
  const auto y = b.output("y", {});
  const auto i = b.bind(2);
  const auto k = b.bind(2);
  b.s.define(d, {i}, function(Primitive::exp, b.at(x, i)) - function(Primitive::exp, b.at(x, i)));
  b.s.define(y, {}, Builder::sum(k, b.at(w, k) * b.at(d, k)));
  const std::vector inputs{f32({2}, {0.3F, -0.4F}), f32({2}, {1.7F, 2.9F})};
  const auto verdict = judge_scalar(b.s, inputs, 0);
  CHECK(verdict.passed());
  CHECK(verdict.undecided == 0);
  CHECK_FALSE(judge_scalar(b.s, inputs, 1e-5F).passed());
}

TEST_CASE("a power of two that is divided first rounds too", "[bounds]") {
  Builder b(DType::f32);
  const auto a = b.input("a", {1});
  const auto d = b.input("d", {1});
  const auto t = b.input("t", {1});
  const auto y = b.output("y", {1});
  const auto i = b.bind(1);
  b.s.define(y, {i}, -(b.at(t, i) * (b.at(a, i) / b.at(d, i) / b.at(d, i))));
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(0.5F, 2);
  for (int trial = 0; trial < 3000; ++trial) {
    const float divisor = uniform(random);
    const float tangent = uniform(random);
    const std::vector inputs{f32({1}, {1}), f32({1}, {divisor}), f32({1}, {tangent})};
    const auto bounds = reference::envelopes(b.s, inputs, spec::Contract{});
    REQUIRE(reference::judge(f32({1}, {-(tangent * (1 / divisor / divisor))}), bounds.outputs[0]).passed());
  }
}

TEST_CASE("hyperparameters rounded too early are outside", "[bounds][power]") {
  // (1 - 0.999)·g with 0.999 rounded to f32 first is 500 ulps off.
  const auto system = adam_system(DType::f32, 1);
  std::vector inputs{f32({1}, {1}), f32({1}, {1}), f32({1}, {0}), f32({1}, {0}),
                     HostTensor::of(Dims{}, std::vector<std::int64_t>{1})};
  const auto bounds = reference::envelopes(system, inputs, spec::Contract{});
  CHECK(reference::judge(f32({1}, {static_cast<float>(1 - 0.999)}), bounds.outputs[2]).passed());
  CHECK_FALSE(reference::judge(f32({1}, {1 - 0.999F}), bounds.outputs[2]).passed());
}

TEST_CASE("the bound does not depend on how sums and products are parenthesised", "[bounds]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const bool products : {false, true}) {
      std::vector<std::vector<double>> ends;
      for (int form = 0; form < 4; ++form) {
        Builder b(dtype);
        const auto x = b.input("x", {4});
        const auto y = b.output("y", {});
        const auto e = [&](int i) { return b.s.at(x, {spec::integer(i)}); };
        const auto join = [&](const Expr& p, const Expr& q) { return products ? p * q : p + q; };
        Expr value = join(join(join(e(0), e(1)), e(2)), e(3));
        if (form == 1) value = join(e(0), join(e(1), join(e(2), e(3))));
        if (form == 2) value = join(join(e(0), e(1)), join(e(2), e(3)));
        if (form == 3) {
          const auto h = b.local("h", {});
          b.s.define(h, {}, join(e(1), e(2)));
          value = join(e(0), join(b.s.at(h, {}), e(3)));
        }
        b.s.define(y, {}, value);
        const std::vector<double> numbers{0.1, 12.3, -7.7, 1e-3};
        std::vector<float> singles(numbers.begin(), numbers.end());
        const HostTensor input = dtype == DType::f32 ? HostTensor::of({4}, singles) : HostTensor::of({4}, numbers);
        const auto bounds = reference::envelopes(b.s, std::vector{input}, spec::Contract{});
        ends.push_back(outermost(dtype, bounds.outputs[0].lower[0], bounds.outputs[0].upper[0]));
      }
      CHECK(ends[0][0] < ends[0][1]);
      for (const auto& other : ends) CHECK(other == ends[0]);
    }
  }
}

TEST_CASE("NaN and a wrong type never pass by accident", "[bounds]") {
  const auto system = sum_system(DType::f64, 1);
  const auto bounds = reference::envelopes(system, std::vector{HostTensor::of({1}, std::vector<double>{1})}, spec::Contract{});
  CHECK_FALSE(reference::judge(HostTensor::of(Dims{}, std::vector<double>{std::nan("")}), bounds.outputs[0]).passed());
  CHECK_FALSE(reference::judge(f32({}, {1}), bounds.outputs[0]).passed());
  CHECK_FALSE(reference::judge(std::vector<HostTensor>{}, bounds).passed());
}

}  // namespace etalon
