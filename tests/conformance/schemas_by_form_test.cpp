// Schemas that follow from the form of the equations: quotients by counts, and adjoints of what parts state of tangents.
#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "conformance/admit_schemas.hpp"
#include "conformance/divided_axes.hpp"
#include "conformance/schemas.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/case_of_text.hpp"

using namespace etalon;
using conformance_test::admitted;
using conformance_test::case_of;

namespace {

const std::string ratio = "ratio(a[n], b[n]) -> y[n]\n  y[i] = a[i]/b[i]\n";
const std::string stated = "  jvp\n  r[i] = 1/b[i]\n  y'[i] = a'[i]*r[i] - a[i]*b'[i]*r[i]*r[i]\n";

/// The mean over three rows and the first seven columns.
const std::string box = R"(box(x[n, m]) -> y[1]
  cells[i < 1] = sum[j < n, k < m where i <= j and k < i + 7] 1
  y[i < 1] = (sum[j < n, k < m where i <= j and k < i + 7] x[j, k])/cells[i]
)";

HostTensor one(float value) { return HostTensor::of<float>(Dims{1}, {value}); }

}  // namespace

TEST_CASE("what a part states of tangents admits its adjoint, and nothing beside it", "[schemas]") {
  const float a = 25, b = 3, pulled = 5;
  const float quotient = pulled / b, product = pulled * (1 / b);
  REQUIRE(quotient != product);
  const auto of_b = [&](float reciprocal) { return -(pulled * a) * reciprocal * reciprocal; };
  const auto answers = [&](const std::string& text, float of_a) {
    conformance::Case c = case_of(text, spec::Mode::vjp, {one(a), one(b)});
    c.cotangents = {one(pulled)};
    return admitted(c, {one(a / b), one(of_a), one(of_b(1 / b))});
  };
  CHECK(answers(ratio, quotient));
  CHECK_FALSE(answers(ratio, product));
  CHECK(answers(ratio + stated, quotient));
  CHECK(answers(ratio + stated, product));
  CHECK_FALSE(answers(ratio + stated, product + 2 * (product - quotient)));
  CHECK_FALSE(answers(ratio + stated, std::nanf("")));
}

TEST_CASE("a part is admitted beside an operand of nothing, but not where the meaning is no number", "[schemas]") {
  const std::string text =
      "beside(x[a], b[n]) -> y[n], m\n  y[i] = b[i]*(b[i] - 1)\n  m = (sum[k] x[k])/a\n"
      "  also\n  y[i] = b[i]*b[i] - b[i]\n  m = sum[k] (x[k]/a)\n";
  const float b = 1 + 0x1p-12F, cancelled = b * b - b;
  REQUIRE(cancelled != b * (b - 1));
  const auto answers = [&](float y, float m) {
    const auto c = case_of(text, spec::Mode::forward, {HostTensor::of<float>(Dims{0}, {}), one(b)});
    return admitted(c, {one(y), HostTensor::of<float>(Dims{}, {m})});
  };
  const float nan = std::nanf("");
  CHECK(answers(b * (b - 1), nan));
  CHECK(answers(cancelled, nan));
  CHECK_FALSE(answers(cancelled, 0));
  CHECK_FALSE(answers(b * (b - 1), 0));
  CHECK_FALSE(answers(cancelled + 1e-6F, nan));
}

TEST_CASE("no part makes a number of nothing none", "[schemas]") {
  const std::string text = "none(x[a], b[n]) -> y[n]\n  y[i] = b[i]*(sum[k] x[k])\n  also\n  y[i] = b[i]*(sum[k] x[k])*(1/a)*a\n";
  const auto answers = [&](float y) {
    return admitted(case_of(text, spec::Mode::forward, {HostTensor::of<float>(Dims{0}, {}), one(3)}), {one(y)});
  };
  CHECK(answers(0));
  CHECK_FALSE(answers(std::nanf("")));  // 0·∞
}

TEST_CASE("a sum may be divided by the extents of its box one after the other", "[schemas]") {
  // Only one element, so that nothing rounds but the quotients.
  std::vector<float> elements(27, 0);
  const auto answers = [&](float sum, float got) {
    elements[10] = sum;
    return admitted(case_of(box, spec::Mode::forward, {HostTensor::of<float>(Dims{3, 9}, elements)}), {one(got)});
  };
  std::size_t apart = 0;
  for (float sum = 1; sum < 100; ++sum) {
    const float whole = sum / 21, by_rows = sum / 3 / 7, by_columns = sum / 7 / 3;
    CHECK(answers(sum, whole));
    CHECK(answers(sum, by_rows));
    CHECK(answers(sum, by_columns));
    const float ulp = std::nextafter(whole, 2 * whole) - whole;
    CHECK_FALSE(answers(sum, whole + 6 * ulp));
    CHECK_FALSE(answers(sum, sum / 27));
    apart += by_rows != whole || by_columns != whole ? 1U : 0U;
  }
  CHECK(apart > 5);
}

TEST_CASE("a count that is no box, or none, divides as it stands", "[schemas]") {
  const auto divided = [](const std::string& text, const Dims& dims) {
    const auto c = case_of(text, spec::Mode::forward, {HostTensor(DType::f32, dims)});
    return conformance::with_divided_axes(conformance::instance_of(c).system).has_value();
  };
  CHECK(divided(box, Dims{3, 9}));
  CHECK_FALSE(divided("mean_of(x[n]) -> y[1]\n  cells[i < 1] = sum[j < n where i <= j] 1\n  y[i < 1] = (sum[j] x[j])/cells[i]\n", Dims{9}));
  CHECK_FALSE(divided("lower(x[n, m]) -> y[1]\n  cells[i < 1] = sum[j < n, k < m where i + k <= j] 1\n  y[i < 1] = (sum[j, k] x[j, k])/cells[i]\n", Dims{3, 9}));
  CHECK_FALSE(divided("weighted(x[n, m]) -> y[1]\n  cells[i < 1] = sum[j < n, k < m where i <= j] 2\n  y[i < 1] = (sum[j, k] x[j, k])/cells[i]\n", Dims{3, 9}));
}
