#include "reference/backend.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace etalon;
using namespace etalon::spec;

HostTensor f64s(const Dims& dims, const std::vector<double>& v) { return HostTensor::of<double>(dims, v); }

/// y = x · w for one row, z = y squared: by hand everything is a small integer.
Program product() {
  Program p;
  p.inputs = {{"x", DType::f64, {1, 2}, Role::input, {}, {}, {}}, {"w", DType::f64, {2, 1}, Role::input, {}, {}, {}}};
  Call dot;
  dot.operation = "matmul";
  dot.operands = {"x", "w"};
  dot.results = {"y"};
  Call square;
  square.operation = "mul";
  square.operands = {"y", "y"};
  square.results = {"z"};
  p.steps = {dot, square};
  p.outputs = {"y", "z"};
  return p;
}

Request ask(Mode mode) {
  Request r;
  r.id = "1";
  r.mode = mode;
  r.program = product();
  r.inputs = {f64s({1, 2}, {2, 3}), f64s({2, 1}, {5, -1})};
  return r;
}

Numbers numbers(const Request& r) {
  const Answer a = reference::make_reference_backend()->run(r);
  if (const auto* refusal = std::get_if<Refusal>(&a)) FAIL(refusal->why);
  return std::get<Numbers>(a);
}

}  // namespace

TEST_CASE("the reference backend answers all modes of a program", "[backend]") {
  // y = 2·5 - 3 = 7, z = 49.
  const Numbers forward = numbers(ask(Mode::forward));
  REQUIRE(forward.outputs.at(0) == f64s({1, 1}, {7}));
  REQUIRE(forward.outputs.at(1) == f64s({1, 1}, {49}));

  Request r = ask(Mode::jvp);
  r.wrt = {true, false};
  r.tangents = {f64s({1, 2}, {1, 10}), std::nullopt};
  const Numbers along = numbers(r);  // y' = 5 - 10 = -5, z' = 2·7·(-5)
  REQUIRE(along.tangents.at(0) == f64s({1, 1}, {-5}));
  REQUIRE(along.tangents.at(1) == f64s({1, 1}, {-70}));

  r = ask(Mode::vjp);
  r.wrt = {true, true};
  r.cotangents = {f64s({1, 1}, {3}), f64s({1, 1}, {2})};
  const Numbers back = numbers(r);  // y~ = 3 + 2·2·7 = 31
  REQUIRE(back.cotangents.at(0) == f64s({1, 2}, {155, -31}));
  REQUIRE(back.cotangents.at(1) == f64s({2, 1}, {62, 93}));

  r.mode = Mode::jvp_of_vjp;
  r.tangents = {f64s({1, 2}, {1, 0}), std::nullopt};
  const Numbers second = numbers(r);  // y' = 5; y~' = 2·2·5 = 20; x~' = 20·w; w~' = 20·x + 31·x'
  REQUIRE(second.cotangents.at(0) == f64s({1, 2}, {155, -31}));
  REQUIRE(second.tangents.at(0) == f64s({1, 2}, {100, -20}));
  REQUIRE(second.tangents.at(1) == f64s({2, 1}, {71, 60}));
}

TEST_CASE("many elements are transposed by equations, to the same numbers", "[backend]") {
  // 100 inputs are past what is transposed column by column; the derivative of a sum of squares is 2x.
  Program p;
  p.inputs = {{"x", DType::f64, {100}, Role::input, {}, {}, {}}};
  Call square;
  square.operation = "mul";
  square.operands = {"x", "x"};
  square.results = {"y"};
  p.steps = {square};
  p.outputs = {"y"};
  Request r;
  r.mode = Mode::vjp;
  r.program = p;
  r.wrt = {true};
  std::vector<double> x(100), u(100), expected(100);
  for (std::size_t i = 0; i < 100; ++i) {
    x[i] = static_cast<double>(i) - 40;
    u[i] = static_cast<double>(i % 7) - 3;
    expected[i] = 2 * x[i] * u[i];
  }
  r.inputs = {f64s({100}, x)};
  r.cotangents = {f64s({100}, u)};
  REQUIRE(numbers(r).cotangents.at(0) == f64s({100}, expected));
}

TEST_CASE("bad requests are refused with a reason, not thrown", "[backend]") {
  Request r = ask(Mode::forward);
  r.inputs[1] = f64s({3, 1}, {1, 2, 3});
  Answer a = reference::make_reference_backend()->run(r);
  REQUIRE(std::get<Refusal>(a).kind == Refusal::Kind::rejected);
  REQUIRE_THAT(std::get<Refusal>(a).why, Catch::Contains("f64[2, 1]") && Catch::Contains("f64[3, 1]"));
  r = ask(Mode::forward);
  r.program.inputs[1].dims = {3, 1};
  a = reference::make_reference_backend()->run(r);
  REQUIRE(std::get<Refusal>(a).kind == Refusal::Kind::rejected);
  REQUIRE_THAT(std::get<Refusal>(a).why, Catch::Contains("matmul"));
  r = ask(Mode::vjp);
  r.wrt = {true};
  a = reference::make_reference_backend()->run(r);
  REQUIRE(std::get<Refusal>(a).kind == Refusal::Kind::rejected);
}
