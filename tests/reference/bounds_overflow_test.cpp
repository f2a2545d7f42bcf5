// What may become of a result where something on the way to it overflows or vanishes.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bounds_judged.hpp"
#include "bounds_systems.hpp"
#include "reference/bounds/arithmetic.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

/// The product of so many elements of one input, written out.
spec::System factors(int count) {
  Builder b(DType::f32);
  const auto x = b.input("x", {count});
  const auto y = b.output("y", {});
  spec::Expr product = b.s.at(x, {spec::integer(0)});
  for (int i = 1; i < count; ++i) product = product * b.s.at(x, {spec::integer(i)});
  b.s.define(y, {}, product);
  return b.s;
}

}  // namespace

TEST_CASE("every order of an overflowing sum is admitted", "[bounds][power]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector inputs{f32({4}, {3e38F, 3e38F, -3e38F, -3e38F})};
  const auto system = sum_system(DType::f32, 4);
  for (const float y : {0.0F, nan, INFINITY, -INFINITY}) CHECK(judge_scalar(system, inputs, y).passed());
}

TEST_CASE("the ends of a function's values are numbers where it overflows a double", "[bounds]") {
  // A number near 7e37, or minus infinity, as a sum that may overflow leaves it: e to it is beyond all doubles, or 0.
  const spec::Contract contract;
  reference::bounds::Arithmetic<double> arithmetic(contract);
  reference::bounds::Value<double> x = reference::bounds::point(7e37);
  x.lower = 6.9e37;
  x.upper = 7.1e37;
  x.flags |= reference::admits_negative_infinity | reference::bounds::interval_only;
  const auto y = arithmetic.function(Primitive::exp, x);
  CHECK(y.lower <= 0);
  CHECK(y.upper == std::numeric_limits<double>::infinity());
  x.flags = reference::admits_finite | reference::bounds::interval_only;
  CHECK(arithmetic.function(Primitive::exp, x).lower > 1e300);
}

TEST_CASE("results flushed to zero are outside unless the contract says so", "[bounds][power]") {
  Builder b(DType::f32);
  const auto x = b.input("x", {1});
  const auto y = b.output("y", {1});
  const auto i = b.bind(1);
  b.s.define(y, {i}, b.at(x, i) * b.at(x, i));
  const std::vector inputs{f32({1}, {1e-20F})};
  CHECK(reference::judge(f32({1}, {1e-20F * 1e-20F}), reference::envelopes(b.s, inputs, spec::Contract{}).outputs[0]).passed());
  CHECK_FALSE(reference::judge(f32({1}, {0}), reference::envelopes(b.s, inputs, spec::Contract{}).outputs[0]).passed());
  spec::Contract flushing;
  flushing.flush_results = true;
  CHECK(reference::judge(f32({1}, {0}), reference::envelopes(b.s, inputs, flushing).outputs[0]).passed());
}

TEST_CASE("what underflows in f64 may be zero or the smallest number, and nothing else", "[bounds]") {
  Builder b(DType::f64);
  const auto x = b.input("x", {1});
  const auto w = b.input("w", {1});
  const auto y = b.output("y", {1});
  const auto i = b.bind(1);
  b.s.define(y, {i}, function(Primitive::exp, b.at(x, i)) * b.at(w, i));
  const std::vector inputs{HostTensor::of({1}, std::vector<double>{-939}), HostTensor::of({1}, std::vector<double>{0.12})};
  const auto bounds = reference::envelopes(b.s, inputs, spec::Contract{});
  CHECK(bounds.outputs[0].lower[0] <= 0);
  CHECK(bounds.outputs[0].upper[0] >= 0);
  CHECK(bounds.outputs[0].upper[0] < 1e-320);
  CHECK_FALSE(reference::judge(HostTensor::of({1}, std::vector<double>{1e-300}), bounds.outputs[0]).passed());
}

TEST_CASE("powers of two may overflow on the way, too", "[bounds]") {
  // t·a/b/b is 5/4·2^127; 1/b overflows, and so does a/b/b before t is there.
  Builder b(DType::f32);
  const auto t = b.input("t", {});
  const auto x = b.input("a", {});
  const auto d = b.input("b", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, b.at(t) * (b.at(x) / b.at(d) / b.at(d)));
  const std::vector<HostTensor> inputs{f32({}, {0x1.4p-5F}), f32({}, {0x1p-132F}), f32({}, {0x1p-132F})};
  CHECK(judge_scalar(b.s, inputs, 0x1.4p127F).passed());
  CHECK(judge_scalar(b.s, inputs, std::numeric_limits<float>::infinity()).passed());
  // Where nothing can overflow, nothing is granted.
  const std::vector<HostTensor> tame{f32({}, {0x1.4p-5F}), f32({}, {0x1p-32F}), f32({}, {0x1p-32F})};
  CHECK(judge_scalar(b.s, tame, 0x1.4p27F).passed());
  CHECK(!judge_scalar(b.s, tame, 0x1.400002p27F).passed());
  CHECK(!judge_scalar(b.s, tame, std::numeric_limits<float>::infinity()).passed());
}

TEST_CASE("the reciprocal of a power of two may overflow before its own reciprocal is taken", "[bounds]") {
  Builder b(DType::f32);
  const auto x = b.input("x", {});
  const auto y = b.output("y", {});
  b.s.define(y, {}, spec::decimal(1) / (spec::decimal(1) / b.at(x)));
  for (const float tiny : {0x1p-143F, -0x1p-143F, 0x1.8p-143F}) {
    CHECK(judge_scalar(b.s, std::vector{f32({}, {tiny})}, tiny).passed());
    CHECK(judge_scalar(b.s, std::vector{f32({}, {tiny})}, 0).passed());
  }
  CHECK(judge_scalar(b.s, std::vector{f32({}, {0x1p-20F})}, 0x1p-20F).passed());
  for (const float wrong : {0.0F, std::numeric_limits<float>::quiet_NaN()}) CHECK_FALSE(judge_scalar(b.s, std::vector{f32({}, {0x1p-20F})}, wrong).passed());
}

TEST_CASE("a partial product may vanish beside an infinity", "[bounds]") {
  const auto three = factors(3);
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector vanishing{f32({3}, {1e-30F, 1e-30F, inf})};
  CHECK(judge_scalar(three, vanishing, inf).passed());
  CHECK(judge_scalar(three, vanishing, nan).passed());
  CHECK_FALSE(judge_scalar(three, vanishing, 0).passed());
  CHECK_FALSE(judge_scalar(three, vanishing, -inf).passed());
  const std::vector lasting{f32({3}, {1e-20F, 1e-20F, inf})};
  CHECK(judge_scalar(three, lasting, inf).passed());
  CHECK_FALSE(judge_scalar(three, lasting, nan).passed());
  // Powers of two round nothing, and vanish as well.
  const std::vector powers{f32({3}, {0x1p-100F, 0x1p-100F, inf})};
  CHECK(judge_scalar(three, powers, inf).passed());
  CHECK(judge_scalar(three, powers, nan).passed());
  CHECK_FALSE(judge_scalar(three, std::vector{f32({3}, {0x1p-60F, 0x1p-60F, inf})}, nan).passed());
}

TEST_CASE("a product whose partial products overflow has one sign and is no NaN, unless one of them may vanish", "[bounds]") {
  const auto three = factors(3);
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::max();
  const std::vector beyond{f32({3}, {3e30F, 2e30F, -0.7F})};
  CHECK(judge_scalar(three, beyond, -inf).passed());
  for (const float wrong : {inf, nan, -most, 0.0F, -1.0F}) CHECK_FALSE(judge_scalar(three, beyond, wrong).passed());
  // In one association it is infinite, in another the product.
  const std::vector either{f32({3}, {3e30F, 2e30F, 1e-31F})};
  CHECK(judge_scalar(three, either, inf).passed());
  CHECK(judge_scalar(three, either, 3e30F * (2e30F * 1e-31F)).passed());
  for (const float wrong : {-inf, nan, 7e29F, 0.0F}) CHECK_FALSE(judge_scalar(three, either, wrong).passed());
  // Of three small ones two may vanish, and an infinity times that is NaN.
  for (const float open : {inf, nan}) CHECK(judge_scalar(factors(4), std::vector{f32({4}, {3e30F, 3e30F, 3e-30F, 3e-30F})}, open).passed());
}

TEST_CASE("a function beyond every number is infinite, however coarse and however wide the type", "[bounds]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Builder b(dtype);
    const auto x = b.input("x", {});
    const auto y = b.output("y", {});
    b.s.define(y, {}, function(Primitive::sinh, b.at(x)));
    spec::Contract coarse;
    coarse.functions[dtype][Primitive::sinh] = {2.5, 0.25, 0, false};
    const double inf = std::numeric_limits<double>::infinity();
    const auto scalar = [&](double value) { return dtype == DType::f32 ? f32({}, {static_cast<float>(value)}) : HostTensor::of<double>({}, {value}); };
    // Where the error may be as large as the result, nothing is known.
    spec::Contract vague;
    vague.functions[dtype][Primitive::sinh] = {dtype == DType::f32 ? 0x1p24 : 0x1p53, 0, 0, false};
    CHECK(reference::judge(scalar(-1), reference::envelopes(b.s, std::vector{scalar(1e7)}, vague).outputs[0]).undecided == 1);
    // Beyond the type, beyond doubles, beyond quadruple precision.
    for (const double at : {dtype == DType::f32 ? 200.0 : 800.0, 2000.0, 1e7}) {
      const auto judged = [&](double from, double got) {
        return reference::judge(scalar(got), reference::envelopes(b.s, std::vector{scalar(from)}, coarse).outputs[0]);
      };
      CHECK(judged(at, inf).passed());
      CHECK(judged(-at, -inf).passed());
      CHECK(judged(at, inf).undecided == 0);
      for (const double wrong : {-inf, std::nan(""), 1.0, 1e30}) CHECK_FALSE(judged(at, wrong).passed());
    }
  }
}

}  // namespace etalon
