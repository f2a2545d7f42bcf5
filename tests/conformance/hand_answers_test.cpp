// Derivatives at single points whose right answers are known by hand, and the wrong ones beside them.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "conformance/judge.hpp"
#include "spec/contract/contract.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using conformance::Verdict;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

using Row = std::vector<float>;

HostTensor row(const Row& numbers) { return HostTensor::of<float>(Dims{static_cast<std::int64_t>(numbers.size())}, numbers); }

/// A program of one output y and its inputs, differentiated by the first.
struct Asked {
  std::string text;
  std::vector<HostTensor> inputs;
  Row values;

  [[nodiscard]] Verdict along(const Row& tangent, const Row& answer) const {
    spec::Request request = first_marked(spec::Mode::jvp);
    request.tangents = {row(tangent)};
    request.tangents.resize(inputs.size());
    return conformance::judge(request, spec::Numbers{{row(values)}, {row(answer)}, {}}, {}).verdict;
  }

  [[nodiscard]] Verdict pulled(const Row& cotangent, const Row& answer) const {
    spec::Request request = first_marked(spec::Mode::vjp);
    request.cotangents = {row(cotangent)};
    std::vector<std::optional<HostTensor>> cotangents{row(answer)};
    cotangents.resize(inputs.size());
    return conformance::judge(request, spec::Numbers{{row(values)}, {}, cotangents}, {}).verdict;
  }

 private:
  [[nodiscard]] spec::Request first_marked(spec::Mode mode) const {
    spec::Request request;
    request.program = spec::parse_program(text);
    request.inputs = inputs;
    request.mode = mode;
    request.wrt = std::vector<bool>(inputs.size(), false);
    request.wrt[0] = true;
    return request;
  }
};

}  // namespace

TEST_CASE("the root of a zero is that zero under any contract", "[poles]") {
  const Asked root{"input x : f32[2]\ny = rsqrt(x)\noutput y\n", {row({0, 4})}, {inf, 0.5F}};
  CHECK(root.along({1, 1}, {-inf, -0.0625F}) == Verdict::pass);
  CHECK(root.along({1, 1}, {inf, -0.0625F}) == Verdict::fail);
  CHECK(root.along({1, 1}, {1, -0.0625F}) == Verdict::fail);
  for (const float wrong : {-inf, 1.0F}) {
    const Asked other{root.text, root.inputs, {wrong, 0.5F}};
    CHECK(other.along({1, 1}, {-inf, -0.0625F}) == Verdict::fail);
  }
}

TEST_CASE("a step leaves no slope to a root of zero, or NaN", "[conformance]") {
  const Asked step{"input x : f32[1]\nt = trunc(x)\ny = sqrt(t)\noutput y\n", {row({0.5F})}, {0}};
  CHECK(step.along({1}, {0}) == Verdict::pass);
  CHECK(step.along({1}, {not_a_number}) == Verdict::pass);
  CHECK(step.along({1}, {inf}) == Verdict::fail);
  CHECK(step.along({1}, {1}) == Verdict::fail);
}

TEST_CASE("the tangent of a first factor that is infinite passes to the first product", "[conformance]") {
  const Asked products{"input x : f32[2]\ny = cumprod(x) {axis = 0}\noutput y\n", {row({-inf, 0})}, {-inf, not_a_number}};
  CHECK(products.along({1, 0}, {1, not_a_number}) == Verdict::pass);
  CHECK(products.along({1, 0}, {2, not_a_number}) == Verdict::fail);
}

TEST_CASE("the cotangent of a factor that is 0 is the product of the others", "[conformance]") {
  const Asked products{"input x : f32[3]\ny = cumprod(x) {axis = 0}\noutput y\n", {row({2, 3, 0})}, {2, 6, 0}};
  CHECK(products.pulled({1, 1, 1}, {4, 2, 6}) == Verdict::pass);
  CHECK(products.pulled({1, 1, 1}, {4, 2, 0}) == Verdict::fail);
  CHECK(products.pulled({1, 1, 1}, {4, 2, 7}) == Verdict::fail);
}

TEST_CASE("the exponent 0 has a slope of 0 where the base is a number", "[conformance]") {
  const Asked power{"input x : f32[2]\ny = power(x) {p = 0.0}\noutput y\n", {row({0, -2})}, {1, 1}};
  CHECK(power.pulled({1, 1}, {0, 0}) == Verdict::pass);
  CHECK(power.pulled({1, 1}, {not_a_number, 0}) == Verdict::fail);
}

TEST_CASE("both neighbours of a slope that several roundings make conform", "[conformance]") {
  const double sigma = 1 / (1 + std::exp(-10.0));
  const double value = std::log1p(std::exp(-10.0)) + 10;
  const Asked loss{"input x : f32[1]\ninput t : f32[1]\ny = bce_with_logits(x, t) {reduction = none}\noutput y\n", {row({10}), row({0})},
                   {static_cast<float>(value)}};
  const auto nearest = static_cast<float>(sigma);
  const float above = std::nextafter(nearest, inf), below = std::nextafter(nearest, 0.0F);
  const float neighbour = static_cast<double>(nearest) < sigma ? above : below;
  CHECK(loss.pulled({1}, {nearest}) == Verdict::pass);
  CHECK(loss.pulled({1}, {neighbour}) == Verdict::pass);
  CHECK(loss.pulled({1}, {nearest + 4 * (above - nearest)}) == Verdict::fail);
}

TEST_CASE("a cotangent that is 0 may be the rounding of the products that cancel, and no more", "[conformance]") {
  // r*x - r*mean, as the definition's part has it, is off by half a unit of r*x where that is fused.
  const float x = 7200, r = 1 / std::sqrt(1e-5F), half_a_unit = (std::nextafter(r * x, inf) - r * x) / 2;
  const std::string text = "input x : f32[1, 2]\ninput gamma : f32[2]\ny = layer_norm(x, gamma)\noutput y\n";
  spec::Request request;
  request.program = spec::parse_program(text);
  request.inputs = {HostTensor::of<float>(Dims{1, 2}, {x, x}), row({1, 1})};
  request.mode = spec::Mode::vjp;
  request.wrt = {false, true};
  const HostTensor ones = HostTensor::of<float>(Dims{1, 2}, {1, 1}), zeros(DType::f32, Dims{1, 2});
  request.cotangents = {ones};
  const auto verdict = [&](float first) {
    return conformance::judge(request, spec::Numbers{{zeros}, {}, {std::nullopt, row({first, 0})}}, {}).verdict;
  };
  CHECK(verdict(0) == Verdict::pass);
  CHECK(verdict(half_a_unit) == Verdict::pass);
  CHECK(verdict(16 * half_a_unit) == Verdict::fail);
  CHECK(verdict(7.2F) == Verdict::fail);
}
