// Answers that look right and are not: each differs from a right one in what only one rule decides.
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "conformance/judge.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using conformance::Verdict;

namespace {

[[nodiscard]] Verdict verdict_on(const std::string& program, const HostTensor& operand, const HostTensor& answer,
                                 const spec::Contract& contract) {
  spec::Request r;
  r.program = spec::parse_program(program);
  r.inputs = {operand};
  r.wrt = {false};
  spec::Numbers numbers;
  numbers.outputs = {answer};
  return conformance::judge(r, numbers, contract).verdict;
}

[[nodiscard]] Verdict of_position(std::vector<float> x, std::int64_t position, spec::NanPolicy policy, const std::string& operation) {
  spec::Contract contract = spec::contract_named("ieee");
  contract.nan_of_extrema = policy;
  return verdict_on("input x : f32[4]\ny = " + operation + "(x)\noutput y\n", HostTensor::of<float>(Dims{4}, x),
                    HostTensor::of<std::int64_t>(Dims{}, std::vector<std::int64_t>{position}), contract);
}

[[nodiscard]] Verdict of_cast(std::int64_t n, float answer) {
  return verdict_on("input t : i64[1]\ny = cast(t) {dtype = f32}\noutput y\n",
                    HostTensor::of<std::int64_t>(Dims{1}, std::vector<std::int64_t>{n}),
                    HostTensor::of<float>(Dims{1}, std::vector<float>{answer}), spec::contract_named("ieee"));
}

}  // namespace

TEST_CASE("a position that skips a NaN is wrong where NaN is promised to come through", "[sound][conformance]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* operation : {"argmax", "argmin"}) {
    const auto verdict = [&](std::int64_t position, spec::NanPolicy policy) {
      return of_position({1, nan, 7, nan}, position, policy, operation);
    };
    CHECK(verdict(1, spec::NanPolicy::propagate) == Verdict::pass);
    for (const std::int64_t other : {0, 2, 3}) CHECK(verdict(other, spec::NanPolicy::propagate) == Verdict::fail);
    // Where it is left free, nothing is decided.
    CHECK(verdict(2, spec::NanPolicy::free) == Verdict::undecided);
  }
}

TEST_CASE("an integer that becomes real through a double is rounded twice", "[sound][conformance]") {
  // Above the middle between two floats by less than a double tells.
  const std::int64_t middle = (std::int64_t{1} << 54) + (std::int64_t{1} << 30);
  CHECK(of_cast(middle + 1, 0x1p54F + 0x1p31F) == Verdict::pass);
  CHECK(of_cast(middle + 1, 0x1p54F) == Verdict::fail);
  CHECK(of_cast(-middle - 1, -0x1p54F - 0x1p31F) == Verdict::pass);
  CHECK(of_cast(-middle - 1, -0x1p54F) == Verdict::fail);
  CHECK(of_cast(middle - 1, 0x1p54F) == Verdict::pass);
  CHECK(of_cast(middle - 1, 0x1p54F + 0x1p31F) == Verdict::fail);
}
