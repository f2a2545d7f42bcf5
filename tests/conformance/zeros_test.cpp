// Zeros whose sign evaluations that conform may choose.
#include <catch2/catch.hpp>

#include "conformance/judge.hpp"
#include "spec/backend.hpp"

using namespace etalon;

namespace {

/// atan2(floor_divide(x, y), floor_divide(x, y)), answered with this number.
conformance::Verdict verdict(float x, float y, float answer) {
  spec::Request request;
  for (const char* name : {"x", "y"}) {
    spec::Input input;
    input.name = name;
    request.program.inputs.push_back(input);
  }
  request.program.steps.emplace_back(spec::Call{"floor_divide", {"x", "y"}, {}, {}, {"q"}, {}});
  request.program.steps.emplace_back(spec::Call{"atan2", {"q", "q"}, {}, {}, {"a"}, {}});
  request.program.outputs = {"a"};
  request.inputs = {HostTensor::of<float>({}, {x}), HostTensor::of<float>({}, {y})};
  spec::Numbers numbers;
  numbers.outputs = {HostTensor::of<float>({}, {answer})};
  return conformance::judge(request, numbers, spec::Contract()).verdict;
}

}  // namespace

TEST_CASE("the angle of two computed zeros is any that their signs make", "[judge]") {
  constexpr float pi = 3.1415927F;
  CHECK(verdict(0.0F, -1.0F, -pi) != conformance::Verdict::fail);
  CHECK(verdict(0.0F, -1.0F, 0.0F) != conformance::Verdict::fail);
  CHECK(verdict(0.0F, -1.0F, 4.0F) != conformance::Verdict::pass);
  CHECK(verdict(3.0F, 2.0F, 0.7853982F) == conformance::Verdict::pass);
  CHECK(verdict(3.0F, 2.0F, -pi) == conformance::Verdict::fail);
}
