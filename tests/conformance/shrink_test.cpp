// Counterexamples become small, within a budget, and go on failing in the same way.
#include <catch2/catch.hpp>

#include <cmath>

#include "backends.hpp"
#include "conformance/failure_class.hpp"
#include "conformance/shrink.hpp"
#include "conformance/shrink_steps.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::Outcome;
using conformance::Verdict;

namespace {

class Direct final : public conformance::Asked {
 public:
  explicit Direct(spec::Backend& backend) : backend_(backend) {}
  spec::Answer run(const spec::Request& request) override { return backend_.run(request); }

 private:
  spec::Backend& backend_;
};

bool holds(const HostTensor& t, double value) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    if (conformance::element(t, i) == value) return true;
  }
  return false;
}

/// Adds 1 to everything; fails as a division by zero where an operand holds a 0.
spec::Answer off_by_one_but_for_zeros(const spec::Request& r, spec::Answer a) {
  for (const HostTensor& input : r.inputs) {
    if (holds(input, 0)) return spec::Refusal{spec::Refusal::Kind::error, "ZeroDivisionError: float division by zero"};
  }
  return tests::each_tensor(std::move(a), [](HostTensor& t) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i)
      conformance::set_element(t, i, conformance::element(t, i) + 1);
  });
}

/// The first case of the operation that fails with a wrong number.
std::pair<Case, Outcome> failing(const char* operation, conformance::Asked& backend) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    auto c = conformance::make_case({operation, Check::value, DType::f32, i, 1, {}});
    if (!c) continue;
    Outcome outcome = check(*c, backend, {});
    if (outcome.verdict == Verdict::fail && outcome.offender && std::isfinite(outcome.offender->got)) return {*c, outcome};
  }
  FAIL("no case fails");
  return {};
}

}  // namespace

TEST_CASE("a smaller case fails in the same way", "[shrink]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled spoiled(*inner, off_by_one_but_for_zeros);
  Direct backend(spoiled);
  for (const char* operation : {"softplus", "linear"}) {
    const auto [c, outcome] = failing(operation, backend);
    const auto shrunk = shrink(c, outcome, backend, {}, {.attempts = 2000, .seconds = 600});
    INFO(operation << ": " << shrunk.outcome.why);
    CHECK_FALSE(shrunk.cut_short);
    CHECK(failure_class(shrunk.outcome) == failure_class(outcome));
    REQUIRE(shrunk.outcome.offender.has_value());
    for (std::size_t i = 0; i < shrunk.smallest.operands.size(); ++i) {
      const auto& operand = shrunk.smallest.operands[i];
      if (i == 2) CHECK_FALSE(operand.has_value());  // the shift of linear can be left out
      if (!operand) continue;
      CHECK(operand->dims.count() <= 1);
      if (operand->dims.count() == 1) CHECK(conformance::element(*operand, 0) == 1);  // 0 fails in another way
    }
  }
}

TEST_CASE("what is left when the budget ends is told and fails", "[shrink]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled spoiled(*inner, off_by_one_but_for_zeros);
  Direct backend(spoiled);
  const auto [c, outcome] = failing("softplus", backend);
  const auto none = shrink(c, outcome, backend, {}, {.attempts = 400, .seconds = 0});
  CHECK(none.cut_short);
  CHECK(none.attempts == 0);
  CHECK(none.smallest.operands == c.operands);
  const auto whole = shrink(c, outcome, backend, {}, {.attempts = 400, .seconds = 600});
  REQUIRE_FALSE(whole.cut_short);
  REQUIRE(whole.attempts > 1);
  const std::size_t half = whole.attempts / 2;
  const auto some = shrink(c, outcome, backend, {}, {.attempts = half, .seconds = 600});
  CHECK(some.cut_short);
  CHECK(some.attempts == half);
  CHECK(failure_class(check(some.smallest, backend, {})) == failure_class(outcome));
}

TEST_CASE("kinds of failure are told apart, numbers in their words are not", "[shrink]") {
  const auto with = [](const char* tensor, double lower, double got, const char* admits) {
    Outcome o;
    o.verdict = Verdict::fail;
    o.offender = conformance::Offender{tensor, 0, lower, lower, got, admits};
    return failure_class(o);
  };
  const double nan = std::nan("");
  CHECK(with("y", 1, 2, "") == with("z", 5, -3, ""));
  CHECK(with("y", 1, 2, "") != with("y", 1, nan, ""));
  CHECK(with("y", 1, 2, "") != with("y", 1, INFINITY, ""));
  CHECK(with("y", 1, 2, "") != with("y~", 1, 2, ""));
  CHECK(with("y", 1, 2, "") != with("y'", 1, 2, ""));
  CHECK(with("y", nan, 2, "nan") != with("y", 1, 2, ""));
  const auto says = [](Verdict verdict, const char* why) {
    Outcome o;
    o.verdict = verdict;
    o.why = why;
    return failure_class(o);
  };
  CHECK(says(Verdict::fail, "failed: index 7 is out of [2, 3]") == says(Verdict::fail, "failed: index 12 is out of [1]"));
  CHECK(says(Verdict::fail, "failed: index 7") != says(Verdict::fail, "failed: shape 7"));
  CHECK(says(Verdict::fail, "failed: x") != says(Verdict::crashed, "failed: x"));
}

TEST_CASE("simpler numbers lead to an end", "[shrink]") {
  for (const double start : {0.1234567, 3.4028234663852886e38, 1e-45, -17.25, 20.0, 1999.0, -1e9}) {
    double v = start;
    int steps = 0;
    for (; steps < 5000; ++steps) {  // takes the last candidate each time
      const auto candidates = conformance::simpler_values(v, DType::f64);
      if (candidates.empty()) break;
      v = candidates.back();
    }
    INFO(start);
    CHECK(steps < 5000);
    CHECK(v == 0);
  }
}
