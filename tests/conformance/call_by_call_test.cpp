// Programs whose calls may be computed in several ways: what lies beyond all of them is wrong, and nothing else is.
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "conformance/call_by_call.hpp"
#include "conformance/case.hpp"
#include "conformance/judge.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;

namespace {

std::vector<HostTensor> answered(const spec::Numbers& numbers) {
  std::vector<HostTensor> all = numbers.outputs;
  for (const auto* list : {&numbers.tangents, &numbers.cotangents}) {
    for (const auto& t : *list) {
      if (t) all.push_back(*t);
    }
  }
  return all;
}

spec::Numbers numbers_of(spec::Backend& backend, const spec::Request& request) {
  const spec::Answer answer = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) FAIL(refusal->why);
  return std::get<spec::Numbers>(answer);
}

spec::Request softmaxes(spec::Mode mode) {
  spec::Request request;
  request.program = spec::parse_program("input x : f32[2, 3]\nh = softmax(x) {axis = 1}\ny = layer_norm(h, _, _) {axes = [1]}\noutput y\n");
  request.mode = mode;
  request.inputs = {HostTensor::of<float>({2, 3}, {0.5F, -1.25F, 0.75F, 2, -0.5F, 0.25F})};
  if (mode == spec::Mode::forward) return request;
  request.wrt = {true};
  const HostTensor seed = HostTensor::of<float>({2, 3}, {0.3F, -1.1F, 0.7F, 0.2F, 0.9F, -0.4F});
  if (mode == spec::Mode::jvp) request.tangents = {seed};
  else request.cotangents = {seed};
  return request;
}

}  // namespace

TEST_CASE("the exact answer lies within what the calls admit", "[call_by_call]") {
  const auto backend = reference::make_reference_backend();
  std::size_t compared = 0, derivatives = 0;
  for (const char* operation : {"softmax", "layer_norm", "linear", "exp", "sigmoid", "mul", "mean", "cumsum", "conv1d", "silu"}) {
    for (std::uint64_t i = 0; i < 11; ++i) {
      const auto c = conformance::make_case({operation, Check::program, DType::f32, i, 1, {}});
      if (!c) continue;
      const spec::Request request = request_of(*c);
      const auto bounds = conformance::call_by_call(request, {});
      if (!bounds) continue;
      derivatives += c->mode == spec::Mode::forward ? 0 : 1;
      INFO(operation << " " << i);
      const reference::Verdict verdict = reference::judge(answered(numbers_of(*backend, request)), *bounds);
      INFO(verdict.message);
      CHECK(verdict.passed());
      compared += verdict.comparisons;
    }
  }
  CHECK(compared >= 3000);
  CHECK(derivatives >= 30);
}

TEST_CASE("a derivative far from every way in which its calls may be computed is convicted", "[call_by_call]") {
  const auto backend = reference::make_reference_backend();
  for (const spec::Mode mode : {spec::Mode::jvp, spec::Mode::vjp}) {
    const spec::Request request = softmaxes(mode);
    spec::Numbers numbers = numbers_of(*backend, request);
    CHECK(conformance::judge(request, numbers, {}).verdict == conformance::Verdict::pass);
    auto& list = mode == spec::Mode::jvp ? numbers.tangents : numbers.cotangents;
    HostTensor& derivative = *list.at(0);
    const double right = conformance::element(derivative, 4);
    REQUIRE(std::abs(right) > 1e-3);
    conformance::set_element(derivative, 4, right * 1.01);
    CHECK(conformance::judge(request, numbers, {}).verdict == conformance::Verdict::fail);
  }
}

TEST_CASE("calls say nothing of second derivatives, nor beside infinities", "[call_by_call]") {
  spec::Request request = softmaxes(spec::Mode::forward);
  CHECK(conformance::call_by_call(request, {}));
  request.inputs[0] = HostTensor::of<float>({2, 3}, {INFINITY, 0, 0, 0, 0, 0});
  CHECK_FALSE(conformance::call_by_call(request, {}));
  request = softmaxes(spec::Mode::vjp);
  request.mode = spec::Mode::jvp_of_vjp;
  CHECK_FALSE(conformance::call_by_call(request, {}));
}
