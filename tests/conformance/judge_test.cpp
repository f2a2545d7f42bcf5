#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/judge.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"

using namespace etalon;
using conformance::Verdict;
using spec::Json;

namespace {

/// y = exp(a·b), two calls, with seeds for both derivative modes.
[[nodiscard]] spec::Request asked(spec::Mode mode) {
  spec::Request r;
  r.id = "7";
  r.mode = mode;
  r.program = spec::parse_program("input a : f32[2]\ninput b : f32[2]\nm = mul(a, b)\ny = exp(m)\noutput y\n");
  const Dims two{2};
  r.inputs = {HostTensor::of<float>(two, std::vector<float>{0.3F, -1.7F}),
              HostTensor::of<float>(two, std::vector<float>{1.1F, 0.7F})};
  if (mode == spec::Mode::forward) return r;
  r.wrt = {true, false};
  const HostTensor seed = HostTensor::of<float>(two, std::vector<float>{0.9F, -2.3F});
  if (mode == spec::Mode::jvp) r.tangents = {seed, std::nullopt};
  if (mode == spec::Mode::vjp) r.cotangents = {seed};
  if (mode == spec::Mode::jvp_of_vjp) {
    r.tangents = {HostTensor::of<float>(two, std::vector<float>{-0.4F, 1.3F}), std::nullopt};
    r.cotangents = {seed};
    r.cotangent_tangents = {HostTensor::of<float>(two, std::vector<float>{0.2F, 0.6F})};
  }
  return r;
}

[[nodiscard]] spec::Answer answered(const spec::Request& r) { return reference::make_reference_backend()->run(r); }

[[nodiscard]] conformance::Outcome judged(const spec::Request& r, const spec::Answer& answer) {
  return conformance::judge(r, answer, spec::contract_named("ieee"));
}

void scale_first(HostTensor& t, float by) { t.view<float>()[0] *= by; }

}  // namespace

TEST_CASE("the judge passes right answers and convicts each wrong number", "[judge]") {
  for (const spec::Mode mode : {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp}) {
    const spec::Request request = asked(mode);
    const spec::Answer right = answered(request);
    const auto passed = judged(request, right);
    CHECK(passed.verdict == Verdict::pass);
    CHECK(passed.comparisons == (mode == spec::Mode::forward ? 2 : 4));
    spec::Numbers wrong = std::get<spec::Numbers>(right);
    scale_first(wrong.outputs[0], 1.001F);
    const auto convicted = judged(request, wrong);
    REQUIRE(convicted.verdict == Verdict::fail);
    REQUIRE(convicted.offender);
    CHECK(convicted.offender->tensor == "y");
    CHECK(convicted.offender->element == 0);
  }
}

TEST_CASE("the judge looks at derivatives too", "[judge]") {
  const spec::Request forward = asked(spec::Mode::jvp), reverse = asked(spec::Mode::vjp);
  spec::Numbers wrong = std::get<spec::Numbers>(answered(forward));
  scale_first(*wrong.tangents[0], 0.999F);
  CHECK(judged(forward, wrong).verdict == Verdict::fail);
  wrong = std::get<spec::Numbers>(answered(reverse));
  scale_first(*wrong.cotangents[0], 0.999F);
  CHECK(judged(reverse, wrong).verdict == Verdict::fail);
  wrong = std::get<spec::Numbers>(answered(reverse));
  wrong.cotangents[0].reset();
  CHECK(judged(reverse, wrong).why == "cotangents[0] is missing");
  wrong.cotangents.clear();
  CHECK(judged(reverse, wrong).why == "expected 2 cotangents, got 0");
}

TEST_CASE("the judge takes second derivatives, and convicts each of their numbers", "[judge]") {
  const spec::Request request = asked(spec::Mode::jvp_of_vjp);
  const spec::Answer right = answered(request);
  CHECK(judged(request, right).verdict == Verdict::pass);
  CHECK(judged(request, right).comparisons == 6);
  // a~ = y~·b·e^(ab), its derivative along a' and y~': b·e^(ab)·(y~' + y~·b·a'), with b at rest.
  const auto& numbers = std::get<spec::Numbers>(right);
  const double a = 0.3F, b = 1.1F, seed = 0.9F, moves = -0.4F, seed_moves = 0.2F;
  const double exact = b * std::exp(a * b) * (seed_moves + seed * b * moves);
  CHECK(numbers.tangents[0]->view<float>()[0] == static_cast<float>(exact));  // the reference rounds once
  spec::Numbers wrong = numbers;
  scale_first(*wrong.tangents[0], 0.999F);
  const auto convicted = judged(request, wrong);
  REQUIRE(convicted.verdict == Verdict::fail);
  CHECK(convicted.offender->element == 0);
  wrong = numbers;
  scale_first(*wrong.cotangents[0], 0.999F);
  CHECK(judged(request, wrong).verdict == Verdict::fail);
  wrong.tangents.clear();
  CHECK(judged(request, wrong).why == "expected 2 cotangent_tangents, got 0");
}

TEST_CASE("the mean of nothing is no number, and quotients by zero stay infinite when they are floored", "[judge]") {
  const auto verdict = [](const std::string& program, const std::vector<HostTensor>& inputs, const HostTensor& answer) {
    spec::Request r;
    r.program = spec::parse_program(program);
    r.inputs = inputs;
    spec::Numbers numbers;
    numbers.outputs = {answer};
    const auto outcome = judged(r, numbers);
    CHECK(outcome.undecided == 0);
    return outcome.verdict;
  };
  const std::string mean = "input x : f32[0]\ny = mean(x) {axes = [0]}\noutput y\n";
  const HostTensor nothing = HostTensor::of<float>(Dims{0}, std::vector<float>{});
  const auto scalar = [](float x) { return HostTensor::of<float>(Dims{}, std::vector<float>{x}); };
  CHECK(verdict(mean, {nothing}, scalar(NAN)) == Verdict::pass);
  CHECK(verdict(mean, {nothing}, scalar(0)) == Verdict::fail);
  const std::string floored = "input a : f32[3]\ninput b : f32[3]\ny = floor_divide(a, b)\noutput y\n";
  const auto three = [](float x, float y, float z) { return HostTensor::of<float>(Dims{3}, std::vector<float>{x, y, z}); };
  const std::vector<HostTensor> by_zero{three(1, -1, 0), three(0, 0, 0)};
  CHECK(verdict(floored, by_zero, three(INFINITY, -INFINITY, NAN)) == Verdict::pass);
  CHECK(verdict(floored, by_zero, three(1, -INFINITY, NAN)) == Verdict::fail);
  CHECK(verdict(floored, by_zero, three(NAN, -INFINITY, NAN)) == Verdict::fail);
  CHECK(verdict(floored, by_zero, three(INFINITY, -INFINITY, 0)) == Verdict::fail);
}

TEST_CASE("a pair of lines is judged as the structs are", "[judge]") {
  const spec::Request request = asked(spec::Mode::vjp);
  Json pair = {{"request", Json::parse(spec::encode(request))},
               {"answer", spec::answer_to_json("7", answered(request))}};
  conformance::Outcome outcome;
  Json verdict = Json::parse(conformance::judge_line(spec::to_line(pair), spec::contract_named("ieee"), outcome));
  CHECK(verdict["verdict"] == "pass");
  CHECK(verdict["id"] == "7");
  CHECK(outcome.comparisons == 4);
  pair["request"]["program"]["calls"][0]["operation"] = "nonsense";
  verdict = Json::parse(conformance::judge_line(spec::to_line(pair), spec::contract_named("ieee"), outcome));
  CHECK(verdict["verdict"] == "unsupported");
  CHECK(outcome.comparisons == 0);
  CHECK_THROWS_AS(conformance::judge_line("{}", spec::contract_named("ieee"), outcome), SpecViolation);
}
