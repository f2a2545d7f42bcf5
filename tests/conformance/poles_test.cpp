// What is right beside poles, infinities and NaN, and what is not; and that programs are judged part by part.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "conformance/components.hpp"
#include "conformance/judge.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "spec/contract/contract.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using conformance::Verdict;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan_of_f32 = std::numeric_limits<float>::quiet_NaN();

HostTensor row(std::vector<float> numbers) {
  HostTensor t(DType::f32, Dims{static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) t.view<float>()[i] = numbers[i];
  return t;
}

spec::Request forward(const std::string& text, std::vector<HostTensor> inputs) {
  spec::Request request;
  request.program = spec::parse_program(text);
  request.inputs = std::move(inputs);
  return request;
}

Verdict of_outputs(const spec::Request& request, std::vector<HostTensor> outputs) {
  return conformance::judge(request, spec::Numbers{std::move(outputs), {}, {}}, {}).verdict;
}

}  // namespace

TEST_CASE("one over zero has the sign of the zero where that is +0", "[poles]") {
  const auto request = forward("input x : f32[3]\ny = reciprocal(x)\noutput y\n", {row({0, -0.0F, 4})});
  CHECK(of_outputs(request, {row({inf, -inf, 0.25F})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({inf, inf, 0.25F})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({-inf, -inf, 0.25F})}) == Verdict::fail);
  CHECK(of_outputs(request, {row({nan_of_f32, -inf, 0.25F})}) == Verdict::fail);
}

TEST_CASE("a zero that is the larger of two zeros has either sign", "[poles]") {
  const auto verdict = [](float x, float y) {
    return of_outputs(forward("input x : f32[2]\nh = relu(x)\ny = reciprocal(h)\noutput y\n", {row({x, 4})}), {row({y, 0.25F})});
  };
  CHECK(verdict(-0.0F, inf) == Verdict::pass);
  CHECK(verdict(-0.0F, -inf) == Verdict::pass);
  CHECK(verdict(-0.0F, 1) == Verdict::fail);
  CHECK(verdict(-0.0F, nan_of_f32) == Verdict::fail);
  CHECK(verdict(0, inf) == Verdict::pass);
  CHECK(verdict(0, -inf) == Verdict::fail);
}

TEST_CASE("products of several factors are infinite at a pole, and of one sign", "[poles]") {
  const auto request = forward("input x : f32[2]\ninput z : f32[2]\np = mul(x, x)\ny = div(p, z)\noutput y\n", {row({2, -3}), row({0, 0})});
  CHECK(of_outputs(request, {row({inf, inf})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({inf, -inf})}) == Verdict::fail);
  CHECK(of_outputs(request, {row({inf, nan_of_f32})}) == Verdict::fail);
}

TEST_CASE("an infinite slope beside an infinite value has the sign that the equations give it", "[poles]") {
  spec::Request request = forward("input x : f32[2]\ny = rsqrt(x)\noutput y\n", {row({0, 4})});
  request.mode = spec::Mode::jvp;
  request.wrt = {true};
  request.tangents = {row({1, 1})};
  const auto verdict = [&](float slope) {
    const spec::Numbers numbers{{row({inf, 0.5F})}, {row({slope, -0.0625F})}, {}};
    return conformance::judge(request, numbers, spec::contract_named("cpu")).verdict;
  };
  CHECK(verdict(-inf) == Verdict::pass);
  CHECK(verdict(inf) == Verdict::fail);
  CHECK(verdict(3) == Verdict::fail);
}

TEST_CASE("what is cast is rounded before it is read", "[poles]") {
  const auto narrowed = forward("input x : f64[1]\ninput z : f32[1]\nh = cast(x) {dtype = f32}\ny = sub(h, z)\noutput y\n",
                                {HostTensor::of<double>({1}, {1.1}), row({1})});
  CHECK(of_outputs(narrowed, {row({static_cast<float>(1.1) - 1.0F})}) == Verdict::pass);
  CHECK(of_outputs(narrowed, {row({0.1001F})}) == Verdict::fail);
  const auto widened = forward("input x : f32[1]\nh = square(x)\ny = cast(h) {dtype = f64}\noutput y\n", {row({1.1F})});
  CHECK(of_outputs(widened, {HostTensor::of<double>({1}, {static_cast<double>(1.1F * 1.1F)})}) == Verdict::pass);
  CHECK(of_outputs(widened, {HostTensor::of<double>({1}, {1.2101})}) == Verdict::fail);
}

TEST_CASE("a quotient that divides again is rounded twice", "[poles]") {
  const auto request = forward("input x : f32[2]\nh = reciprocal(x)\ny = reciprocal(h)\noutput y\n", {row({7, 3.4e38F})});
  const float turned = 1.0F / (1.0F / 7.0F);
  CHECK(turned != 7.0F);
  CHECK(of_outputs(request, {row({turned, 1.0F / (1.0F / 3.4e38F)})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({7, 3.4e38F})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({7.001F, 3.4e38F})}) == Verdict::fail);
}

TEST_CASE("a reciprocal on the way may overflow", "[poles]") {
  const auto request = forward("input x : f32[1]\nh = reciprocal(x)\ny = reciprocal(h)\noutput y\n", {row({1e-39F})});
  CHECK(of_outputs(request, {row({0})}) != Verdict::fail);
  CHECK(of_outputs(request, {row({1e-39F})}) != Verdict::fail);
}

TEST_CASE("products of zeros of both signs are no zero of a known sign", "[poles]") {
  const auto request = forward("input x : f32[1]\ninput z : f32[1]\np = mul(x, z)\ny = reciprocal(p)\noutput y\n", {row({0}), row({-0.0F})});
  CHECK(of_outputs(request, {row({-inf})}) == Verdict::pass);
  CHECK(of_outputs(request, {row({nan_of_f32})}) == Verdict::fail);
}

TEST_CASE("a constant 0 that is negated may have either sign, and so may an odd power of it", "[poles]") {
  const std::string clipped = "input x : f32[2]\nh = clip_by_value(x) {limit = 0.0}\n";
  const std::vector<HostTensor> inputs{row({-1, 2})};
  const auto quotient = forward(clipped + "y = reciprocal(h)\noutput y\n", inputs);
  CHECK(of_outputs(quotient, {row({-inf, inf})}) == Verdict::pass);
  CHECK(of_outputs(quotient, {row({-inf, -inf})}) == Verdict::fail);
  CHECK(of_outputs(quotient, {row({nan_of_f32, inf})}) == Verdict::fail);
  const auto odd = forward(clipped + "y = power(h) {p = -1.0}\noutput y\n", inputs);
  CHECK(of_outputs(odd, {row({-inf, inf})}) == Verdict::pass);
  CHECK(of_outputs(odd, {row({-inf, -inf})}) == Verdict::fail);
  const auto even = forward(clipped + "y = power(h) {p = -2.0}\noutput y\n", inputs);
  CHECK(of_outputs(even, {row({inf, inf})}) == Verdict::pass);
  CHECK(of_outputs(even, {row({-inf, inf})}) == Verdict::fail);
}

TEST_CASE("functions of two reals take what earlier calls left infinite or NaN for that", "[poles]") {
  const auto remainder = forward("input x : f32[2]\ninput z : f32[2]\nh = reciprocal(z)\ny = remainder(x, h)\noutput y\n", {row({1, -2}), row({0, 0})});
  CHECK(of_outputs(remainder, {row({1, inf})}) == Verdict::pass);
  CHECK(of_outputs(remainder, {row({0, 0})}) == Verdict::fail);
  const auto power = forward("input x : f32[1]\ninput z : f32[1]\nh = log(x)\ny = pow(h, z)\noutput y\n", {row({-1}), row({1})});
  CHECK(of_outputs(power, {row({nan_of_f32})}) == Verdict::pass);
  CHECK(of_outputs(power, {row({0})}) == Verdict::fail);
  const auto angle = forward("input x : f32[1]\nh = abs(x)\ny = atan2(h, h)\noutput y\n", {row({-0.0F})});
  CHECK(of_outputs(angle, {row({0})}) == Verdict::pass);
  CHECK(of_outputs(angle, {row({-3.1415927F})}) == Verdict::fail);
}

TEST_CASE("of infinities that earlier calls left the first one is the largest", "[poles]") {
  const auto request = forward("input x : f32[2]\ninput z : f32[2]\nh = minimum(x, z)\np = argmax(h) {axes = [0]}\noutput p\n", {row({-inf, -inf}), row({0, 1})});
  CHECK(of_outputs(request, {HostTensor::of<std::int64_t>({}, {0})}) == Verdict::pass);
  CHECK(of_outputs(request, {HostTensor::of<std::int64_t>({}, {1})}) == Verdict::fail);
}

TEST_CASE("calls that share no value are parts of their own", "[components]") {
  const std::string text =
      "input a : f32[2]\ninput b : f32[2]\ninput c : f32[2]\nh = neg(b)\nk = add(a, c)\nu = exp(h)\nv = square(k)\noutput v\noutput u\n";
  spec::Request request = forward(text, {row({1, 2}), row({3, 4}), row({5, 6})});
  request.mode = spec::Mode::vjp;
  request.wrt = {true, true, false};
  request.cotangents = {row({1, 1}), row({2, 2})};
  const auto parts = conformance::components_of(request);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].inputs == std::vector<std::size_t>{0, 2});
  CHECK(parts[0].outputs == std::vector<std::size_t>{0});
  CHECK(parts[1].inputs == std::vector<std::size_t>{1});
  CHECK(parts[1].outputs == std::vector<std::size_t>{1});
  CHECK(parts[1].request.wrt == std::vector<bool>{true});
  REQUIRE(parts[1].request.cotangents.size() == 1);
  CHECK(conformance::element(*parts[1].request.cotangents[0], 0) == 2);
  // Outputs v and u, then the cotangents of a and b.
  CHECK(parts[0].place_in(request, 1) == 2);
  CHECK(parts[1].place_in(request, 0) == 1);
  CHECK(parts[1].place_in(request, 1) == 3);
  CHECK(conformance::components_of(forward("input a : f32[2]\nh = neg(a)\nu = exp(a)\noutput h\noutput u\n", {row({1, 2})})).empty());
}

TEST_CASE("a wrong part is convicted beside one that nothing is known of, in its place", "[components]") {
  const auto backend = reference::make_reference_backend();
  spec::Request request = forward(
      "input a : f32[3]\ninput b : f32[3]\nh = softmax(a) {axis = 0}\ny = layer_norm(h, _, _) {axes = [0]}\nk = neg(b)\nz = tanh(k)\noutput y\noutput z\n",
      {row({inf, 0, 1}), row({0.5F, -1, 2})});
  request.mode = spec::Mode::vjp;
  request.wrt = {false, true};
  request.cotangents = {row({1, 2, 3}), row({1, 1, 1})};
  const spec::Answer answer = backend->run(request);
  spec::Numbers numbers = std::get<spec::Numbers>(answer);
  CHECK(conformance::judge(request, numbers, {}).verdict == Verdict::pass);
  conformance::set_element(*numbers.cotangents[1], 2, 7);
  const conformance::Outcome wrong = conformance::judge(request, numbers, {});
  CHECK(wrong.verdict == Verdict::fail);
  REQUIRE(wrong.offender);
  CHECK(wrong.offender->output == 2);
  CHECK(wrong.offender->element == 2);
}

TEST_CASE("an angle hangs on the sign of a zero only where that is known", "[poles]") {
  constexpr float pi = 3.14159274F;
  const auto angle = [](const std::string& calls, std::vector<float> x) {
    return forward("input x : f32[1]\ninput z : f32[1]\n" + calls + "output w\n", {row(std::move(x)), row({-3})});
  };
  // Given, or made of what is given: each zero has its sign.
  for (const float zero : {0.0F, -0.0F}) {
    const auto request = angle("w = atan2(x, z)\n", {zero});
    CHECK(of_outputs(request, {row({std::copysign(pi, zero)})}) == Verdict::pass);
    CHECK(of_outputs(request, {row({std::copysign(pi, -zero)})}) == Verdict::fail);
  }
  // Computed: many systems lose it on the way.
  for (const std::string call : {"y = scale(x) {by = -1.5}\n", "t = scale(x) {by = -1.5}\ny = neg(t)\n", "y = floor_divide(x, z)\n"}) {
    const auto request = angle(call + "w = atan2(y, z)\n", {0});
    CHECK(of_outputs(request, {row({pi})}) != Verdict::fail);
    CHECK(of_outputs(request, {row({-pi})}) != Verdict::fail);
  }
  const auto far = angle("t = scale(x) {by = -1.5}\nr = reciprocal(t)\ns = abs(r)\nm = neg(s)\nw = atan2(t, m)\n", {0});
  CHECK(of_outputs(far, {row({pi})}) != Verdict::fail);
  CHECK(of_outputs(far, {row({-pi})}) != Verdict::fail);
}

TEST_CASE("a quotient that overflows or vanishes below a quotient decides the outer one", "[poles]") {
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  const std::string text = "input a : f32[3]\ninput b : f32[3]\ninput c : f32[3]\nv = div(a, b)\nw = div(c, v)\noutput w\n";
  const auto request = forward(text, {row({-most, least, 6}), row({0.947F, 3, 2}), row({1, 1, 6})});
  CHECK(of_outputs(request, {row({-0.0F, inf, 2})}) != Verdict::fail);
  CHECK(of_outputs(request, {row({-2.78313e-39F, inf, 2})}) != Verdict::fail);
  CHECK(of_outputs(request, {row({-0.0F, inf, 2.00001F})}) == Verdict::fail);
}

TEST_CASE("an integer that becomes a real and an integer again is rounded in between", "[poles]") {
  spec::Request request = forward("input x : i32[2]\nv = cast(x) {dtype = f32}\nw = cast(v) {dtype = i32}\noutput w\n", {});
  const auto integers = [](std::int32_t a, std::int32_t b) {
    HostTensor t(DType::i32, Dims{2});
    t.view<std::int32_t>()[0] = a;
    t.view<std::int32_t>()[1] = b;
    return t;
  };
  request.inputs = {integers(-1218107917, 16777217)};
  CHECK(of_outputs(request, {integers(-1218107904, 16777216)}) == Verdict::pass);
  CHECK(of_outputs(request, {integers(-1218107917, 16777217)}) == Verdict::fail);
  CHECK(of_outputs(request, {integers(-1218107904, 16777218)}) == Verdict::fail);
}

TEST_CASE("a square beyond the largest number is infinite, negated too", "[poles]") {
  HostTensor x(DType::f64, Dims{1}), below(DType::f64, Dims{1});
  x.view<double>()[0] = 7.5e286;
  below.view<double>()[0] = -std::numeric_limits<double>::infinity();
  const auto request = forward("input x : f64[1]\nn = neg(x)\ny = mul(x, n)\noutput y\n", {x});
  CHECK(of_outputs(request, {below}) == Verdict::pass);
  CHECK(of_outputs(request, {x}) == Verdict::fail);
}

TEST_CASE("a cotangent of f64 may become one of f32 before others are added to it", "[sound][poles]") {
  spec::Request request = forward("input x : f32[1]\ny = cast(x) {dtype = f64}\nz = neg(x)\noutput y\noutput z\n", {row({2})});
  request.mode = spec::Mode::vjp;
  request.wrt = {true};
  request.cotangents = {HostTensor::of<double>({1}, {1 + 0x1p-30}), row({1})};
  const auto pulled = [&](float x) {
    spec::Numbers numbers;
    numbers.outputs = {HostTensor::of<double>({1}, {2}), row({-2})};
    numbers.cotangents = {row({x})};
    return conformance::judge(request, numbers, {}).verdict;
  };
  CHECK(pulled(0x1p-30F) == Verdict::pass);
  CHECK(pulled(0) == Verdict::pass);
  CHECK(pulled(0x1p-22F) == Verdict::fail);
  // A cast alone rounds once.
  spec::Request cast = forward("input x : f64[1]\ny = cast(x) {dtype = f32}\noutput y\n", {HostTensor::of<double>({1}, {1 + 0x1.8p-24})});
  CHECK(of_outputs(cast, {row({1 + 0x1p-23F})}) == Verdict::pass);
  CHECK(of_outputs(cast, {row({1})}) == Verdict::fail);
}
