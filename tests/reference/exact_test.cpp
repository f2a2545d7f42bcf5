// The reference's answers are correctly rounded: what rational arithmetic, hand calculation and identities say is met
// to the last bit, where any fixed number of digits fails.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "reference/backend.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"

namespace {

using namespace etalon;
using namespace etalon::spec;
using reference::Rational;

HostTensor f64s(const std::vector<double>& v) {
  return HostTensor::of<double>({static_cast<std::int64_t>(v.size())}, v);
}

/// A program on vectors x, y, … of binary64, written call after call.
class Question {
 public:
  explicit Question(const std::vector<double>& x, const std::vector<double>& y = {}, const std::vector<double>& z = {}) {
    for (const std::vector<double>& v : {x, y, z}) {
      if (v.empty()) continue;
      Input input;
      input.name = std::string(1, static_cast<char>('x' + static_cast<int>(request_.inputs.size())));
      input.dtype = DType::f64;
      input.dims = {static_cast<std::int64_t>(v.size())};
      request_.program.inputs.push_back(input);
      request_.inputs.push_back(f64s(v));
    }
  }
  Question& call(const std::string& result, const std::string& operation, const std::vector<std::string>& operands,
              const Attributes& attributes = {}) {
    request_.program.steps.emplace_back(Call{operation, {operands.begin(), operands.end()}, {}, attributes, {result}, {}});
    request_.program.outputs = {result};
    return *this;
  }
  [[nodiscard]] Answer answer() const { return reference::make_reference_backend()->run(request_); }
  [[nodiscard]] HostTensor output() const { return numbers().outputs.at(0); }
  [[nodiscard]] std::vector<double> doubles() const {
    const HostTensor t = output();
    return {t.view<double>().begin(), t.view<double>().end()};
  }
  /// The cotangents of x for these of the output.
  [[nodiscard]] std::vector<double> pulled(const HostTensor& cotangent) {
    request_.mode = Mode::vjp;
    request_.wrt.assign(request_.inputs.size(), false);
    request_.wrt[0] = true;
    request_.cotangents = {cotangent};
    const HostTensor t = numbers().cotangents.at(0).value();
    return {t.view<double>().begin(), t.view<double>().end()};
  }
  /// The tangents of the output for these of x.
  [[nodiscard]] std::vector<double> pushed(const std::vector<double>& tangent) {
    request_.mode = Mode::jvp;
    request_.tangents.assign(request_.inputs.size(), std::nullopt);
    request_.tangents[0] = f64s(tangent);
    request_.wrt.assign(request_.inputs.size(), false);
    request_.wrt[0] = true;
    const HostTensor t = numbers().tangents.at(0).value();
    return {t.view<double>().begin(), t.view<double>().end()};
  }

 private:
  [[nodiscard]] Numbers numbers() const {
    const Answer a = answer();
    if (const auto* refusal = std::get_if<Refusal>(&a)) FAIL(refusal->why);
    return std::get<Numbers>(a);
  }
  Request request_;
};

double rounded(const Rational& v) {
  return reference::to_host(reference::Array<Rational>::of_reals({}, {v}), DType::f64).view<double>()[0];
}

}  // namespace

TEST_CASE("no number of digits is too few for a sum", "[sound][exact]") {
  CHECK(Question({1e300}, {1}, {1e300}).call("s", "add", {"x", "y"}).call("d", "sub", {"s", "z"}).doubles() == std::vector<double>{1});
  // 1e308 · 2^-1074 is what is left.
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(Question({1e308, tiny, -1e308}).call("s", "sum", {"x"}).doubles() == std::vector<double>{tiny});
  CHECK(Question({1e308, -1e308, 1e308, 3, -1e308}).call("s", "sum", {"x"}).doubles() == std::vector<double>{3});
  CHECK(Question({1e200, 1, -1e200}, {1e200, tiny, 1e200}).call("p", "dot", {"x", "y"}).doubles() == std::vector<double>{tiny});
}

TEST_CASE("long alternating sums are those of rational arithmetic", "[sound][exact]") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 8; ++trial) {
    std::vector<double> x;
    Rational exact(0);
    for (int i = 0; i < 200; ++i) {
      const double size = std::ldexp(1 + static_cast<double>(random() >> 11U) * 0x1p-53, static_cast<int>(random() % 1200) - 600);
      x.push_back(i % 2 == 0 ? size : -size);
    }
    // Each number but a few goes away again.
    for (std::size_t i = 0, n = x.size(); i < n - 3; ++i) x.push_back(-x[i]);
    for (const double v : x) exact += Rational(v);
    CHECK(Question(x).call("s", "sum", {"x"}).doubles() == std::vector<double>{rounded(exact)});
    CHECK(Question(x).call("s", "mean", {"x"}).doubles() == std::vector<double>{rounded(exact / static_cast<int>(x.size()))});
  }
}

TEST_CASE("functions keep what cancels", "[sound][exact]") {
  // log1p(x) - x = -x²/2 + x³/3 - …: the next term is too small to change the rounding of these.
  for (const double x : {0x1p-60, 3e-100, 1e-150}) {
    const Rational r(x);
    CHECK(Question({x}).call("l", "log1p", {"x"}).call("d", "sub", {"l", "x"}).doubles() ==
          std::vector<double>{rounded(-r * r / 2 + r * r * r / 3)});
  }
  // A chain of inverse functions comes back to where it began.
  Question chain({1e-300, 0.3, 7, 1e5});
  std::string at = "x";
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    chain.call("l" + n, "log1p", {at}).call("e" + n, "expm1", {"l" + n});
    at = "e" + n;
  }
  CHECK(chain.doubles() == std::vector<double>{1e-300, 0.3, 7, 1e5});
  // log1p(log1p(…)) of x is x - 20·x²/2 + …
  Question down({1e-200});
  at = "x";
  for (int i = 0; i < 20; ++i) {
    down.call("l" + std::to_string(i), "log1p", {at});
    at = "l" + std::to_string(i);
  }
  const Rational r(1e-200);
  CHECK(down.call("d", "sub", {at, "x"}).doubles() == std::vector<double>{rounded(-10 * r * r)});
}

TEST_CASE("equal numbers are found equal", "[sound][exact]") {
  // Quotients that no binary number is: the first of equal ones, a whole number, a tie between two of binary32.
  const HostTensor first = Question({1, 2, 2, 1}, {3, 3, 3, 3}).call("q", "div", {"x", "y"}).call("a", "argmax", {"q"}).output();
  CHECK(first.view<std::int64_t>()[0] == 1);
  Question whole({1, 5}, {3, 7});
  whole.call("q", "div", {"x", "y"}).call("p", "mul", {"q", "y"});
  CHECK(whole.call("f", "floor", {"p"}).doubles() == std::vector<double>{1, 5});
  Question tie({1 + 0x1p-24, 1 + 3 * 0x1p-24}, {3, 3});
  tie.call("q", "div", {"x", "y"}).call("p", "mul", {"q", "y"});
  const HostTensor single = tie.call("c", "cast", {"p"}, {{"dtype", std::string("f32")}}).output();
  CHECK(single.view<float>()[0] == 1.0F);
  CHECK(single.view<float>()[1] == 1.0F + 0x1p-22F);
  // Where both are the maximum each has one half.
  Question both({0.7}, {0.7});
  both.call("a", "exp", {"x"}).call("b", "exp", {"y"}).call("m", "maximum", {"a", "b"});
  CHECK(both.pushed({1}) == std::vector<double>{Question({0.7}).call("a", "exp", {"x"}).doubles()[0] / 2});
  // The outputs of softmax add up to 1 whatever moves.
  Question soft({0.1, 0.9, -3, 2});
  soft.call("y", "softmax", {"x"});
  CHECK(soft.pulled(f64s({1, 1, 1, 1})) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("a nearly equal number is not taken for an equal one", "[sound][exact]") {
  // Apart by 2^-900: floor tells the sides, also where the number is a quotient.
  const double third = 1.0 / 3;
  Question below({1}, {0x1p-900}, {3});
  below.call("q", "div", {"x", "z"}).call("p", "mul", {"q", "z"}).call("d", "sub", {"p", "y"});
  CHECK(below.call("f", "floor", {"d"}).doubles() == std::vector<double>{0});
  Question sums({1e300, 0x1p-873, -0x1p-1000, -1e300});
  CHECK(sums.call("s", "sum", {"x"}).doubles() == std::vector<double>{0x1p-873});
  Question quotient({third}, {3}, {1});
  CHECK(quotient.call("p", "mul", {"x", "y"}).call("f", "floor", {"p"}).doubles() == std::vector<double>{0});
}

TEST_CASE("products and quotients just beside a tie round to its side", "[sound][exact]") {
  // No precision here tells 1 + exp(-10⁶) from 1: what decides is that the end at the tie is not attained.
  const double z = 0x1p52 + 1;  // three times it is halfway between two numbers
  const auto three_times = [&](const std::string& operation, const std::string& a, const std::string& b) {
    Question q({-1e6}, {1}, {z});
    q.call("e", "exp", {"x"}).call("s", "add", {"e", "y"}).call("p", operation, {a, b});
    return q.call("d", "add", {"p", "p"}).call("t", "add", {"d", "p"}).doubles();
  };
  CHECK(three_times("mul", "s", "z") == std::vector<double>{3 * 0x1p52 + 4});
  CHECK(three_times("div", "z", "s") == std::vector<double>{3 * 0x1p52 + 2});
}

TEST_CASE("what precision cannot decide is refused with its place", "[sound][exact]") {
  // exp2(log2(3)) is 3, but nothing here knows it, and no digits show it.
  Question open({4, 3});
  open.call("l", "log2", {"x"}).call("e", "exp2", {"l"});
  CHECK(open.doubles() == std::vector<double>{4, 3});
  const Answer answer = open.call("f", "floor", {"e"}).answer();
  REQUIRE(std::holds_alternative<Refusal>(answer));
  const auto& refusal = std::get<Refusal>(answer);
  CHECK(refusal.kind == Refusal::Kind::unsupported);
  CHECK_THAT(refusal.why, Catch::Contains("8191 bits") && Catch::Contains("[1]") && Catch::Contains("f"));
}
