// The door's limit of time, and computations that are told to end.
#include "conformance/door/door.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reference/answer.hpp"
#include "reference/bounds/envelope.hpp"
#include "reference/interruptible.hpp"
#include "spec/program/program.hpp"

using namespace etalon;

namespace {

struct Ended {};

/// A product that takes minutes.
[[nodiscard]] spec::Request long_request() {
  spec::Request request;
  request.program = spec::parse_program("input x : f32[600, 600]\ny = matmul(x, x)\noutput y\n");
  request.inputs = {HostTensor(DType::f32, {600, 600})};
  return request;
}

/// How often the computation asked before the third time ended it; 0 where it was not ended.
template <class Compute>
[[nodiscard]] int asked_until_ended(const Compute& compute) {
  int asked = 0;
  const reference::Interruptible interruptible([&asked] {
    if (++asked == 3) throw Ended();
  });
  try {
    compute();
  } catch (const Ended&) {
    return asked;
  }
  return 0;
}

}  // namespace

TEST_CASE("a request that computes for too long is refused", "[door]") {
  const std::string request = R"({"kind": "explain", "definitions": "far(x[n]) -> y[n]\n  y[i] = sum[k < 1000000000] exp(x[i] + k)\n"})";
  const auto answer = nlohmann::json::parse(conformance::door(request, std::chrono::milliseconds(50)));
  CHECK_FALSE(answer.at("ok").get<bool>());
  CHECK(answer.at("error").at("message") == "the request computes for more than 50 ms");
}

TEST_CASE("values and bounds end when they are told to", "[door]") {
  const spec::Request request = long_request();
  CHECK(asked_until_ended([&] { (void)reference::correctly_rounded(request); }) == 3);
  const spec::System system = spec::lower(request.program);
  CHECK(asked_until_ended([&] { (void)reference::envelopes(system, request.inputs, {}); }) == 3);
}

TEST_CASE("who is around the innermost one is asked too, and nobody afterwards", "[door]") {
  const spec::Request request = long_request();
  int outer = 0;
  const reference::Interruptible around([&outer] { ++outer; });
  CHECK(asked_until_ended([&] { (void)reference::correctly_rounded(request); }) == 3);
  CHECK(outer >= 2);
  CHECK(reference::Interruptible::innermost() == &around);
}
