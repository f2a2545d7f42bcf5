// Parts of definitions: another algorithm is admitted as a whole, and refused where it means something else.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "conformance/admit_schemas.hpp"
#include "conformance/contradiction.hpp"
#include "conformance/schemas.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/library/library.hpp"
#include "tests/sanitized.hpp"

using namespace etalon;

namespace {

const std::string logistic = "logistic(x[n]) -> y[n]\n  y[i] = if x[i] < 0 then exp(x[i])/(1 + exp(x[i])) else 1/(1 + exp(-x[i]))\n";
const std::string stated = "  vjp\n  x~[i] = (1 - y[i])*y[i]*y~[i]\n  jvp\n  y'[i] = (1 - y[i])*y[i]*x'[i]\n";

/// One element at 18 with cotangent 1, where 1 - y has lost its digits in f32.
conformance::Case at_18(const std::string& text) {
  conformance::Case c;
  c.key = {"logistic", conformance::Check::vjp, DType::f32, 0, 1, spec::Library().with(text)};
  c.mode = spec::Mode::vjp;
  c.call.operation = "logistic";
  c.call.operands = {spec::ValueType{DType::f32, Dims{1}}};
  c.operands = {HostTensor::of<float>(Dims{1}, {18.0F})};
  c.wrt = {true};
  c.tangents = {std::nullopt};
  c.cotangents = {HostTensor::of<float>(Dims{1}, {1.0F})};
  return c;
}

reference::Envelopes exactly(double y, double derivative) {
  reference::Envelopes bounds;
  for (const double v : {y, derivative}) {
    reference::Envelope e;
    e.dims = Dims{1};
    e.reference = e.lower = e.upper = {v};
    e.flags = {reference::admits_finite};
    bounds.outputs.push_back(e);
  }
  return bounds;
}

bool admitted(const std::string& text, float derivative) {
  const conformance::Case c = at_18(text);
  const float y = 1 / (1 + std::exp(-18.0F));
  const std::vector got{HostTensor::of<float>(Dims{1}, {y}), HostTensor::of<float>(Dims{1}, {derivative})};
  reference::Envelopes bounds = exactly(y, std::exp(-18.0));
  conformance::admit_schemas(bounds, got, conformance::other_schemas(c, c.mode), {}, spec::Contract{});
  return reference::judge(got, bounds).passed();
}

}  // namespace

TEST_CASE("a tensor conforms in the bounds of a part", "[conformance]") {
  CHECK_FALSE(admitted(logistic, 0.0F));
  CHECK(admitted(logistic + stated, 0.0F));
  CHECK_FALSE(admitted(logistic + stated, 1e-3F));
  CHECK_FALSE(admitted(logistic + stated, std::nanf("")));
  // A vjp part, and the adjoint of what is stated of tangents; and what laws make of them.
  const auto count = [](const std::string& text, spec::Mode mode) { return conformance::other_schemas(at_18(text), mode).size(); };
  CHECK(count(logistic + stated, spec::Mode::forward) == count(logistic, spec::Mode::forward));
  CHECK(count(logistic + stated, spec::Mode::vjp) >= count(logistic, spec::Mode::vjp) + 2);
}

TEST_CASE("a part that means something else is found", "[conformance]") {
  const auto found = [](const std::string& text) { return conformance::contradiction(spec::Library().with(text), "logistic"); };
  CHECK(found(logistic) == std::nullopt);
  CHECK(found(logistic + stated) == std::nullopt);
  CHECK(found(logistic + "  also\n  y[i] = exp(x[i])/(1 + exp(x[i]))\n") == std::nullopt);
  const auto wrong = found(logistic + "  vjp\n  x~[i] = (1 + y[i])*y[i]*y~[i]\n");
  REQUIRE(wrong.has_value());
  CHECK_THAT(*wrong, Catch::StartsWith("logistic: its vjp part differs from what it means: x~ is "));
  CHECK(found(logistic + "  jvp\n  y'[i] = y[i]*x'[i]\n").has_value());
  // The cotangent is right, what follows from it for the second derivative is not.
  CHECK(found(logistic + "  vjp\n  x~[i] = (1 - y[i])*detach(y[i])*y~[i]\n").has_value());
  CHECK(found(logistic + "  also\n  y[i] = exp(x[i])\n").has_value());
  const auto nowhere = found(logistic + "  also\n  y[i] = log(-1 - x[i]*x[i])\n");
  REQUIRE(nowhere.has_value());
  CHECK_THAT(*nowhere, Catch::StartsWith("logistic: its also part differs from what it means: y is nan, "));
  const std::string whole = "whole(x[n]) -> y[n] : int\n  y[i] = integer(x[i])\n  also\n  y[i] = integer(x[i])";
  CHECK(conformance::contradiction(spec::Library().with(whole + "\n"), "whole") == std::nullopt);
  CHECK(conformance::contradiction(spec::Library().with(whole + " + 1\n"), "whole").has_value());
}

TEST_CASE("a part that loses a number at single points is found", "[sound][conformance]") {
  const std::string square = "squared(x[n]) -> y[n]\n  y[i] = x[i]*x[i]\n";
  const auto found = [&](const std::string& part) { return conformance::contradiction(spec::Library().with(square + part), "squared"); };
  CHECK(found("  also\n  y[i] = abs(x[i])*abs(x[i])\n") == std::nullopt);
  // 0/0 at x = 0, which ordinary numbers do not meet; and beside the right value for most of them.
  for (const std::string part : {"  also\n  y[i] = x[i]*x[i]*x[i]/x[i]\n", "  jvp\n  y'[i] = 2*x[i]*x[i]*x'[i]/x[i]\n",
                                 "  also\n  y[i] = if x[i] < 1.5 then x[i]*x[i] else log(-x[i])\n"}) {
    const auto lost = found(part);
    CAPTURE(part);
    REQUIRE(lost.has_value());
    CHECK_THAT(*lost, Catch::Contains(" is nan, the definition means ") || Catch::Contains(" is -nan, the definition means "));
  }
}

TEST_CASE("parts of the library mean what their definitions mean", "[conformance]") {
  std::size_t with_parts = 0, number = 0;
  for (const spec::Definition* d : spec::library()) {
    if (test::sanitized && number++ % 4 != 0) continue;
    CHECK(conformance::contradiction({}, std::string(d->name)).value_or("") == "");
    with_parts += d->part_count > 0 ? 1 : 0;
  }
  CHECK(with_parts > 0);
}
