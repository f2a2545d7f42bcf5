// What failures teach: exact value, distance, and causes that explain a whole tensor, each planted and recognised.
#include "conformance/lesson.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "conformance/asking.hpp"
#include "conformance/number_text.hpp"
#include "conformance/reports/report.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "tests/conformance/backends.hpp"

using namespace etalon;
using namespace etalon::conformance;

namespace {

using Spoil = std::function<void(HostTensor&)>;

Case call(const std::string& operation, std::vector<HostTensor> operands, spec::Attributes attributes = {}) {
  Case c;
  c.key.operation = operation;
  c.key.dtype = operands[0].dtype;
  c.call = {operation, {}, {}, std::move(attributes)};
  for (HostTensor& t : operands) {
    c.call.operands.emplace_back(spec::ValueType{t.dtype, t.dims});
    c.operands.emplace_back(std::move(t));
  }
  c.wrt.assign(c.operands.size(), false);
  c.tangents.resize(c.operands.size());
  return c;
}

/// The lesson of a backend that answers the case rightly but for this.
Lesson taught_by(const Case& c, const tests::Spoiled::Spoil& spoil) {
  const auto honest = reference::make_reference_backend();
  tests::Spoiled wrong(*honest, spoil);
  Shared asked(wrong);
  const spec::Contract contract = honest->describe().contract;
  const Outcome outcome = check(c, asked, contract);
  REQUIRE(outcome.verdict == Verdict::fail);
  return lesson_of(c, outcome, asked, contract);
}

Lesson taught_by(const Case& c, const Spoil& spoil) {
  return taught_by(c,
                   [spoil](const spec::Request&, spec::Answer a) { return tests::each_tensor(std::move(a), spoil); });
}

void each(HostTensor& t, const std::function<double(double)>& f) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) set_element(t, i, f(element(t, i)));
}

const HostTensor vector = HostTensor::of<float>({3}, {1, 2, 4});

}  // namespace

TEST_CASE("a wrong sign, a factor and a wrong order are recognised, with the exact value", "[lesson]") {
  const Lesson negated =
      taught_by(call("exp", {vector}), Spoil([](HostTensor& t) { each(t, [](double x) { return -x; }); }));
  CHECK(negated.cause == "the sign is wrong");
  REQUIRE(negated.exact);
  CHECK(*negated.exact == std::exp(1.0));
  CHECK(taught_by(call("exp", {vector}), Spoil([](HostTensor& t) { each(t, [](double x) { return 3 * x; }); })).cause ==
        "3 times too much");
  CHECK(taught_by(call("sum", {vector}), Spoil([](HostTensor& t) { each(t, [](double x) { return x / 3; }); })).cause ==
        "3 times too little");
  const auto turned = [](HostTensor& t) {
    const double first = element(t, 0);
    set_element(t, 0, element(t, 2));
    set_element(t, 2, first);
  };
  CHECK(taught_by(call("exp", {vector}), Spoil(turned)).cause == "the elements stand in reversed order");
}

TEST_CASE("exchanged axes of a result are recognised", "[lesson]") {
  const auto transposed = [](HostTensor& t) {
    const std::vector<double> were{element(t, 0), element(t, 1), element(t, 2),
                                   element(t, 3), element(t, 4), element(t, 5)};
    for (std::size_t i = 0; i < 3; ++i) {  // of 2 rows, written column by column
      for (std::size_t j = 0; j < 2; ++j) set_element(t, i * 2 + j, were[j * 3 + i]);
    }
  };
  const HostTensor matrix = HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(taught_by(call("exp", {matrix}), Spoil(transposed)).cause == "axes 0 and 1 are exchanged");
}

TEST_CASE("numbers of a narrower type are recognised", "[lesson]") {
  const HostTensor wide = HostTensor::of<double>({2}, {0.3, 0.7});
  const Lesson found = taught_by(call("exp", {wide}), Spoil([](HostTensor& t) {
                                   each(t, [](double x) { return static_cast<double>(static_cast<float>(x)); });
                                 }));
  CHECK(found.cause == "the exact values rounded to f32: computed or stored in f32?");
}

TEST_CASE("exchanged operands and a setting that is ignored are recognised", "[lesson]") {
  const auto honest = reference::make_reference_backend();
  const Case difference = call("sub", {HostTensor::of<float>({2}, {5, 1}), HostTensor::of<float>({2}, {3, 7})});
  const Lesson exchanged = taught_by(difference, [&](const spec::Request& r, const spec::Answer&) {
    spec::Request other = r;
    std::swap(other.inputs[0], other.inputs[1]);
    return honest->run(other);
  });
  CHECK((exchanged.cause == "the sign is wrong" || exchanged.cause == "operands 0 and 1 are exchanged"));
  const Case quotient = call("div", {HostTensor::of<float>({2}, {5, 1}), HostTensor::of<float>({2}, {3, 7})});
  CHECK(taught_by(quotient, [&](const spec::Request& r, const spec::Answer&) {
          spec::Request other = r;
          std::swap(other.inputs[0], other.inputs[1]);
          return honest->run(other);
        }).cause == "operands 0 and 1 are exchanged");
  const HostTensor square = HostTensor::of<float>({2, 2}, {1, 2, 3, 5});
  const Lesson ignored = taught_by(call("softmax", {square}, {{"axis", std::int64_t{0}}}),
                                   [&](const spec::Request& r, const spec::Answer&) {
                                     spec::Request other = r;
                                     std::get<spec::Call>(other.program.steps[0]).attributes["axis"] = std::int64_t{1};
                                     return honest->run(other);
                                   });
  CHECK(ignored.cause == "as if axis had its default");
}

TEST_CASE("no cause is looked for among results that no memory holds", "[lesson]") {
  // With the default step there would be 2^53 numbers, and not every allocator throws: that of sanitizers ends the process.
  Case c;
  c.key.operation = "arange";
  c.key.dtype = DType::f32;
  c.call = {"arange", {}, {}, {{"start", std::int64_t{1}}, {"stop", (std::int64_t{1} << 53) + 7}, {"step", (std::int64_t{1} << 53) + 5}, {"dtype", std::string("i64")}}};
  const Lesson found = taught_by(c, [](HostTensor& t) { set_element(t, 0, 5); });
  CHECK(found.cause.empty());
}

TEST_CASE("an answer that is right when asked again is said to hang on earlier ones", "[lesson]") {
  int asked = 0;
  const Lesson found = taught_by(call("exp", {vector}), [&](const spec::Request&, spec::Answer a) {
    if (asked++ > 0) return a;
    return tests::each_tensor(std::move(a), [](HostTensor& t) { set_element(t, 0, 9); });
  });
  CHECK_THAT(found.cause, Catch::StartsWith("asked once more it answers rightly"));
}

TEST_CASE("an adjoint failure says which side is wrong", "[lesson]") {
  for (const auto& [mode, words] :
       {std::pair(spec::Mode::vjp, "J'u is the wrong side"), std::pair(spec::Mode::jvp, "Jv is the wrong side")}) {
    Case c = call("exp", {vector});
    c.key.check = Check::adjoint;
    c.mode = spec::Mode::vjp;
    c.wrt = {true};
    c.tangents = {HostTensor::of<float>({3}, {1, -1, 2})};
    c.cotangents = {HostTensor::of<float>({3}, {2, 1, 3})};
    const spec::Mode spoilt = mode;
    const Lesson found = taught_by(c, [spoilt](const spec::Request& r, spec::Answer a) {
      if (r.mode != spoilt) return a;
      auto& numbers = std::get<spec::Numbers>(a);
      auto& list = spoilt == spec::Mode::vjp ? numbers.cotangents : numbers.tangents;
      set_element(*list[0], 0, 100);
      return a;
    });
    CHECK_THAT(found.cause, Catch::StartsWith(words));
  }
}

TEST_CASE("distances are counted in the last place of the exact value", "[lesson]") {
  CHECK(*ulps(1 + 0x1p-23, 1, DType::f32) == 1);
  CHECK(*ulps(1.5, 1, DType::f32) == 0x1p22);
  CHECK(*ulps(0x1p-149, 0, DType::f32) == 1);
  CHECK(*ulps(2, 2 + 0x1p-22, DType::f32) == 1);
  CHECK(*ulps(-1.0, 1, DType::f64) == 0x1p53);
  CHECK_FALSE(ulps(std::nan(""), 1, DType::f32));
  CHECK_FALSE(ulps(1, 2, DType::i64));
  Offender o{"y", 3, 1, 2, 4, "", DType::f32};
  CHECK(difference(o) == "y[3]: expected in [1, 2], got 4; 5 half-widths from the middle");
  o.exact = 1.5;
  CHECK_THAT(difference(o),
             Catch::StartsWith("y[3]: expected in [1, 2], got 4; exact 1.5, 2.1e+07 ulp away, 5 half-widths"));
  Offender from_zero{"x~", 1, 0, 0, 1, "", DType::f64};
  from_zero.exact = 0;
  CHECK(difference(from_zero) == "x~[1]: expected in [0, 0], got 1; exact 0");
}
