// Derivatives beside infinities and NaN: what is free there, and that nothing else is.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include "conformance/judge.hpp"
#include "spec/protocol/message.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using conformance::Verdict;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_number = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();

using Floats = std::vector<float>;

[[nodiscard]] HostTensor two(const Floats& values) { return HostTensor::of<float>(Dims{2}, values); }

[[nodiscard]] spec::Request unary(const std::string& operation, spec::Mode mode, const Floats& x, const Floats& seed) {
  spec::Request r;
  r.mode = mode;
  r.program = spec::parse_program("input x : f32[2]\ny = " + operation + "(x)\noutput y\n");
  r.inputs = {two(x)};
  r.wrt = {true};
  auto& seeds = mode == spec::Mode::jvp ? r.tangents : r.cotangents;
  seeds.emplace_back(two(seed));
  return r;
}

[[nodiscard]] bool passes(const spec::Request& r, const Floats& y, const std::vector<Floats>& derivatives) {
  spec::Numbers numbers;
  numbers.outputs = {two(y)};
  for (const Floats& d : derivatives) (r.mode == spec::Mode::jvp ? numbers.tangents : numbers.cotangents).emplace_back(two(d));
  return conformance::judge(r, numbers, spec::contract_named("ieee")).verdict == Verdict::pass;
}

}  // namespace

TEST_CASE("the derivative of a value that overflows is any of no numbers", "[conformance]") {
  for (const spec::Mode mode : {spec::Mode::jvp, spec::Mode::vjp}) {
    const spec::Request r = unary("square", mode, {largest, 3}, {0, 2});
    for (const float free : {0.0F, nan_number, infinity, -infinity}) CHECK(passes(r, {infinity, 9}, {{free, 12}}));
    CHECK_FALSE(passes(r, {infinity, 9}, {{1, 12}}));
    CHECK_FALSE(passes(r, {infinity, 9}, {{0, 13}}));
    CHECK_FALSE(passes(r, {infinity, 9}, {{0, nan_number}}));
    CHECK_FALSE(passes(r, {infinity, 9}, {{0, 0}}));
  }
}

TEST_CASE("the derivative of a NaN is free, and of its neighbour is not", "[conformance]") {
  for (const spec::Mode mode : {spec::Mode::jvp, spec::Mode::vjp}) {
    const spec::Request r = unary("clamp", mode, {nan_number, 3}, {5, 2});
    for (const float free : {0.0F, 5.0F, nan_number}) CHECK(passes(r, {nan_number, 3}, {{free, 2}}));
    CHECK_FALSE(passes(r, {nan_number, 3}, {{0, 0}}));
    CHECK_FALSE(passes(r, {nan_number, 3}, {{0, nan_number}}));
  }
}

TEST_CASE("an extremum beside NaN belongs to either operand", "[conformance]") {
  spec::Request r;
  r.mode = spec::Mode::vjp;
  r.program = spec::parse_program("input a : f32[2]\ninput b : f32[2]\ny = maximum(a, b)\noutput y\n");
  r.inputs = {two({nan_number, 1}), two({0, 2})};
  r.wrt = {true, true};
  r.cotangents = {two({5, 7})};
  CHECK(passes(r, {nan_number, 2}, {{5, 0}, {0, 7}}));
  CHECK(passes(r, {nan_number, 2}, {{0, 0}, {5, 7}}));
  CHECK_FALSE(passes(r, {nan_number, 2}, {{5, 7}, {0, 0}}));
}

TEST_CASE("a NaN that is not chosen leaves the derivative by it zero", "[conformance]") {
  spec::Request r;
  r.mode = spec::Mode::vjp;
  r.program = spec::parse_program("input c : bool[2]\ninput a : f32[2]\ninput b : f32[2]\ny = where(c, a, b)\noutput y\n");
  r.inputs = {HostTensor(DType::boolean, Dims{2}), two({nan_number, 1}), two({3, 2})};
  r.wrt = {false, true, true};
  r.cotangents = {two({5, 7})};
  const auto answered = [&](const Floats& a) {
    spec::Numbers numbers;
    numbers.outputs = {two({3, 2})};
    numbers.cotangents = {std::nullopt, two(a), two({5, 7})};
    return conformance::judge(r, numbers, spec::contract_named("ieee")).verdict == Verdict::pass;
  };
  CHECK(answered({0, 0}));
  CHECK_FALSE(answered({nan_number, 0}));
}

TEST_CASE("a tangent of an infinite operand is free though the value is finite", "[conformance]") {
  const spec::Request r = unary("tanh", spec::Mode::jvp, {infinity, 0}, {0, 2});
  for (const float free : {0.0F, nan_number}) CHECK(passes(r, {1, 0}, {{free, 2}}));
  CHECK_FALSE(passes(r, {1, 0}, {{1, 2}}));
  CHECK_FALSE(passes(r, {1, 0}, {{0, nan_number}}));
}

TEST_CASE("where a derivative is zero times infinity, leaving the product out is no fault", "[sound][conformance]") {
  // The first product is x[0] alone, of which the derivative is 1; the equations also multiply the nothing before it.
  const spec::Request r = unary("cumprod", spec::Mode::jvp, {infinity, 0}, {1, 0});
  for (const float free : {1.0F, 0.0F, nan_number}) CHECK(passes(r, {infinity, nan_number}, {{free, nan_number}}));
  CHECK_FALSE(passes(r, {3, nan_number}, {{1, nan_number}}));
}

TEST_CASE("a slope that is zero by definition may be computed as a number", "[sound][conformance]") {
  for (const spec::Mode mode : {spec::Mode::jvp, spec::Mode::vjp}) {
    spec::Request r = unary("sqrt", mode, {0.5F, 4.5F}, {3, 2});
    r.program = spec::parse_program("input x : f32[2]\nt = trunc(x)\ny = sqrt(t)\noutput y\n");
    // The root's slope is infinite at 0, and zero times infinity is NaN.
    for (const float free : {0.0F, nan_number}) CHECK(passes(r, {0, 2}, {{free, 0}}));
    for (const float wrong : {1.0F, infinity, -infinity}) CHECK_FALSE(passes(r, {0, 2}, {{wrong, 0}}));
    CHECK_FALSE(passes(r, {0, 2}, {{0, nan_number}}));
    CHECK_FALSE(passes(r, {0, 2}, {{0, 0.5F}}));
  }
}

TEST_CASE("a seed that is no number meets a slope that a condition makes zero: 0 and NaN are both right", "[sound][conformance]") {
  const spec::Request rectified = unary("relu", spec::Mode::vjp, {-1, 2}, {nan_number, 3});
  for (const float free : {0.0F, nan_number}) CHECK(passes(rectified, {0, 2}, {{free, 3}}));
  for (const float wrong : {1.0F, infinity}) CHECK_FALSE(passes(rectified, {0, 2}, {{wrong, 3}}));
  CHECK_FALSE(passes(rectified, {0, 2}, {{0, nan_number}}));
  const spec::Request moved = unary("relu", spec::Mode::jvp, {-1, 2}, {infinity, 3});
  for (const float free : {0.0F, nan_number}) CHECK(passes(moved, {0, 2}, {{free, 3}}));
  CHECK_FALSE(passes(moved, {0, 2}, {{1, 3}}));
  // Of the largest element alone the tangent counts, or those of all behind a mask.
  spec::Request largest_of = unary("max", spec::Mode::jvp, {1, 2}, {nan_number, 3});
  const auto along = [&](float tangent) {
    spec::Numbers numbers;
    numbers.outputs = {HostTensor::of<float>(Dims{}, Floats{2})};
    numbers.tangents = {HostTensor::of<float>(Dims{}, Floats{tangent})};
    return conformance::judge(largest_of, numbers, spec::contract_named("ieee")).verdict == Verdict::pass;
  };
  for (const float free : {3.0F, nan_number}) CHECK(along(free));
  CHECK_FALSE(along(4));
  // Finite seeds are multiplied by 0.
  CHECK_FALSE(passes(unary("relu", spec::Mode::vjp, {-1, 2}, {5, 3}), {0, 2}, {{nan_number, 3}}));
  // What no seed stands beside stays what it is: behind the end of a slice there is nothing.
  spec::Request sliced;
  sliced.mode = spec::Mode::vjp;
  sliced.program = spec::parse_program("input x : f32[2]\ny = slice(x) {start = [0], stop = [1]}\noutput y\n");
  sliced.inputs = {two({1, 2})};
  sliced.wrt = {true};
  sliced.cotangents = {HostTensor::of<float>(Dims{1}, Floats{nan_number})};
  const auto pulled = [&](const Floats& x) {
    spec::Numbers numbers;
    numbers.outputs = {HostTensor::of<float>(Dims{1}, Floats{1})};
    numbers.cotangents = {two(x)};
    return conformance::judge(sliced, numbers, spec::contract_named("ieee")).verdict == Verdict::pass;
  };
  CHECK(pulled({nan_number, 0}));
  CHECK_FALSE(pulled({nan_number, nan_number}));
}

TEST_CASE("beside a NaN that is the largest, another may be no number either", "[sound][conformance]") {
  spec::Request r = unary("norm", spec::Mode::vjp, {nan_number, nan_number}, {});
  r.program = spec::parse_program("input x : f32[2]\ny = norm(x) {axes = [0], ord = infinity}\noutput y\n");
  r.cotangents = {HostTensor::of<float>(Dims{}, Floats{2})};
  spec::Contract propagating = spec::contract_named("ieee");
  propagating.nan_of_extrema = spec::NanPolicy::propagate;
  const auto pulled = [&](const Floats& x) {
    spec::Numbers numbers;
    numbers.outputs = {HostTensor::of<float>(Dims{}, Floats{nan_number})};
    numbers.cotangents = {two(x)};
    return conformance::judge(r, numbers, propagating).verdict == Verdict::pass;
  };
  CHECK(pulled({nan_number, 0}));
  CHECK(pulled({nan_number, nan_number}));
  CHECK_FALSE(pulled({nan_number, 1}));
}
