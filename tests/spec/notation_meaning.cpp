// Clauses M1 to M10 of docs/notation.md, by values worked out by hand.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "tests/spec/notation_call.hpp"

using namespace etalon;
using namespace etalon::spec;
using Catch::Contains;
using reference::Array;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Array<double> reals(const Dims& d, std::vector<double> v) { return Array<double>::of_reals(d, std::move(v)); }
Array<double> integers(const Dims& d, std::vector<std::int64_t> v) { return Array<double>::of_integers(d, std::move(v)); }

Operands types_of(const std::vector<Array<double>>& inputs) {
  Operands types;
  for (const Array<double>& a : inputs) {
    types.push_back(ValueType{a.kind == Kind::real ? DType::f64 : a.kind == Kind::integer ? DType::i64 : DType::boolean, a.dims});
  }
  return types;
}

/// The only result of a definition written in the test.
Array<double> value(std::string_view text, const std::vector<Array<double>>& inputs, const Attributes& attributes = {}) {
  const System system = instance_of(text, types_of(inputs), attributes).system;
  verify(system);
  return reference::evaluate<double>(system, inputs).at(0);
}

/// The value of `y = e` for a scalar x.
double at(const std::string& e, double x) { return value("f(x) -> y\n y = " + e, {reals({}, {x})}).real.at(0); }

/// The derivative of `y = e` at x, as the equations of the JVP give it.
double slope(const std::string& e, double x) {
  const System system = jvp(instance_of("f(x) -> y\n y = " + e, {f64({})}).system, std::vector<std::size_t>{0});
  const std::vector<Array<double>> inputs{reals({}, {x}), reals({}, {1})};
  return reference::evaluate<double>(system, inputs).at(1).real.at(0);
}

}  // namespace

TEST_CASE("M1 numbers: exact decimals, binary64 attributes, real division", "[notation][M1]") {
  CHECK(at("0*x + 1/2", 0) == 0.5);
  CHECK(at("x + 7/2", 1) == 4.5);
  const Instance i = instance_of("f(x) {a = 0.1} -> y\n y = (a - 0.1) + 0*x", {f64({})});
  const Expr& e = i.system.equations.at(0).value->args[0];
  CHECK(e->args[0]->number == Number{0, 0, true, 0.1});
  CHECK(e->args[1]->number == Number{1, -1, false, 0});
  const Instance r = instance_of("f(x) {a} -> y\n y = a*x", {f64({})}, {{"a", 1e23}});
  CHECK(r.system.equations.at(0).value->args[0]->number.binary == 1e23);
  const auto d = std::make_unique<Definition>(parse("f(x) {a = 1.7976931348623157e308, b = 123456789012345678e-25} -> y\n y = a*x"));
  const Bindings b = bind_attributes(*d, Attributes{});
  CHECK(b.of[0].real == 1.7976931348623157e308);
  CHECK(b.of[1].real == 123456789012345678e-25);
}

TEST_CASE("M2 integers: floor division, remainder, exact promotion", "[notation][M2]") {
  const Array<double> q = value("f(a[n] : int, b[n] : int) -> y[n] : int\n y[i] = (a[i] + 0) // 3 + b[i]",
                                {integers({4}, {7, -7, 6, -1}), integers({4}, {0, 0, 0, 0})});
  CHECK(q.integer == std::vector<std::int64_t>{2, -3, 2, -1});
  const Array<double> m = value("f(a[n] : int) -> y[n] : int\n y[i] = a[i] % 3", {integers({4}, {7, -7, 6, -1})});
  CHECK(m.integer == std::vector<std::int64_t>{1, 2, 0, 2});
  CHECK(value("f(x[n], t : int) -> y[n]\n y[i] = x[i] + i*t", {reals({3}, {0.5, 0.5, 0.5}), integers({}, {4})}).real ==
        std::vector<double>{0.5, 4.5, 8.5});
  CHECK_THROWS_WITH(instance_of("f(x[n]) -> y[n] : int\n y[i] = x[i]", {f64({2})}), Contains("use cast"));
  CHECK(value("f(x[n]) -> y[n] : int\n y[i] = integer(x[i])", {reals({5}, {1.9, -1.9, 1e30, -inf, not_a_number})}).integer ==
        std::vector<std::int64_t>{1, -1, INT64_MAX, INT64_MIN, 0});
  const Array<double> q0 = value("f(a[n] : int, b[n] : int) -> y[n] : int, z[n] : int\n y[i] = a[i] // b[i]\n z[i] = a[i] % b[i]",
                                 {integers({4}, {7, -7, 7, 7}), integers({4}, {-2, 2, 0, -1})});
  CHECK(q0.integer == std::vector<std::int64_t>{-4, -4, 0, -7});
  CHECK(at("x // 2", -3) == -2);
  CHECK(at("x % 2", -3) == 1);
  CHECK(at("x % (-2)", 3) == -1);
  CHECK(std::isnan(at("x % 0.0", 3)));
  CHECK_THROWS_WITH(instance_of("f(x[n], t : int) -> y[n]\n y[i] = i // (n - n)", {f64({2}), i64({})}), Contains("not a positive number"));
}

TEST_CASE("M2 the literals 0 and 1 serve beside a truth value", "[notation][M2]") {
  const char* text = "f(x[n] : any) -> y[n + 2]\n y[i] = if i == 0 then 1 else (x[i - 1] else 0)";
  CHECK(value(text, {Array<double>::of_integers({2}, {0, 1}, Kind::boolean)}).integer == std::vector<std::int64_t>{1, 0, 1, 0});
  CHECK(value(text, {integers({1}, {7})}).integer == std::vector<std::int64_t>{1, 7, 0});
  CHECK(value(text, {reals({1}, {0.5})}).real == std::vector<double>{1, 0.5, 0});
  CHECK_THROWS_WITH(value("f(x : bool) -> y : bool\n y = if x then x else 2", {Array<double>::of_integers({}, {1}, Kind::boolean)}),
                    Contains("mixes a truth value and an integer"));
}

TEST_CASE("M3 if: the branch not taken does not show", "[notation][M3]") {
  CHECK(at("if x > 0 then log(x) else 3", -1) == 3);
  CHECK(slope("if x > 0 then sqrt(x) else 2*x", 0) == 2);
  CHECK(value("where(c[n] : bool, a[n], b[n]) -> y[n]\n y[i] = if c[i] then a[i] else b[i]",
              {Array<double>::of_integers({2}, {1, 0}, Kind::boolean), reals({2}, {1, not_a_number}), reals({2}, {not_a_number, 2})})
            .real == std::vector<double>{1, 2});
}

TEST_CASE("M4 reductions: neutral elements, else, and the first extremum", "[notation][M4]") {
  const std::vector<Array<double>> none{reals({0}, {})};
  CHECK(value("f(x[n]) -> y\n y = sum[k] x[k]", none).real.at(0) == 0);
  CHECK(value("f(x[n]) -> y\n y = prod[k] x[k]", none).real.at(0) == 1);
  CHECK(value("f(x[n]) -> y : bool\n y = any[k] (x[k] > 0)", none).integer.at(0) == 0);
  CHECK(value("f(x[n]) -> y : bool\n y = all[k] (x[k] > 0)", none).integer.at(0) == 1);
  CHECK(value("f(x[n]) -> y\n y = max[k] x[k] else 5", none).real.at(0) == 5);
  CHECK_THROWS_AS(value("f(x[n]) -> y\n y = max[k] x[k]", none), SpecViolation);
  CHECK_THROWS_AS(value("f(x[n]) -> y : int\n y = argmin[k] x[k]", none), SpecViolation);
  const std::vector<Array<double>> some{reals({2, 3}, {1, 5, 2, 5, 0, 0})};
  CHECK(value("f(x[n, m]) -> y : int\n y = argmax[i, j] x[i, j]", some).integer.at(0) == 1);
  CHECK(value("f(x[n, m]) -> y : int\n y = argmin[i, j] x[i, j]", some).integer.at(0) == 4);
  CHECK(value("f(x[n, m]) -> y\n y = max[i, j where x[i, j] > 9] x[i, j] else -1", some).real.at(0) == -1);
}

TEST_CASE("M5 each element is given exactly once", "[notation][M5]") {
  const auto check = [](const char* text) { verify(instance_of(text, {f64({3})}).system); };
  CHECK_NOTHROW(check("f(x[n]) -> y[2*n]\n y[2*i] = x[i]\n y[2*i + 1] = x[i]"));
  CHECK_THROWS_AS(check("f(x[n]) -> y[2*n]\n y[2*i] = x[i]"), SpecViolation);
  CHECK_THROWS_AS(check("f(x[n]) -> y[2*n]\n y[2*i] = x[i]\n y[i < n] = x[i]"), SpecViolation);
  CHECK_THROWS_AS(check("f(x[n]) -> y[n]\n y[i] = x[i + 1]"), SpecViolation);
}

TEST_CASE("M6 detach: the value, and no derivative", "[notation][M6]") {
  CHECK(at("x*detach(x)", 3) == 9);
  CHECK(slope("x*detach(x)", 3) == 3);
}

TEST_CASE("M7 kinks", "[notation][M7]") {
  CHECK(slope("abs(x)", 0) == 0);
  CHECK(slope("maximum(x, 0)", 0) == 0.5);
  CHECK(slope("maximum(x, 3*x)", 0) == 2);
  CHECK(slope("if x <= 0 then 0 else x", 0) == 0);
  const System routed = vjp(instance_of("f(x[n]) -> y\n y = max[k] x[k]", {f64({3})}).system, std::vector<std::size_t>{0});
  const std::vector<Array<double>> inputs{reals({3}, {1, 4, 4}), reals({}, {2})};
  CHECK(reference::evaluate<double>(routed, inputs).at(1).real == std::vector<double>{0, 2, 0});
}

TEST_CASE("M8 random numbers: the published known answer", "[notation][M8]") {
  const Array<double> words = value("f(seed : int, step : int) -> y[8] : int\n y[i] = philox(seed, step, 0, i)",
                                    {integers({}, {0}), integers({}, {0})});
  // Philox4x32-10 of the zero counter and the zero key, from the authors' known-answer file.
  const std::vector<std::int64_t> first(words.integer.begin(), words.integer.begin() + 4);
  CHECK(first == std::vector<std::int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const Definition& uniform = definition_named("uniform");
  const Operands key{i64({}), i64({})};
  const System system = instantiate(uniform, key, {}, {{"shape", std::vector<std::int64_t>{2}}}).system;
  const std::vector<Array<double>> zero{integers({}, {0}), integers({}, {0})};
  CHECK(reference::evaluate<double>(system, zero).at(0).real == std::vector<double>{0x6627e8 / 16777216.0, 0xe169c5 / 16777216.0});
  const System wide =
      instantiate(uniform, key, {}, {{"shape", std::vector<std::int64_t>{1}}, {"dtype", std::string("f64")}}).system;
  const std::uint64_t joined = (std::uint64_t{0xe169c58d} << 32U) | 0x6627e8d5U;
  CHECK(reference::evaluate<double>(wide, zero).at(0).real.at(0) == static_cast<double>(joined >> 11U) * 0x1p-53);
}

TEST_CASE("M9 special values follow the equations", "[notation][M9]") {
  CHECK(std::isnan(at("if x <= 0 then 0 else x", not_a_number)));
  CHECK(at("1/x", 0.0) == inf);
  CHECK(at("1/x", -0.0) == -inf);
  CHECK(std::isnan(at("x - x", inf)));
}

TEST_CASE("M10 functions", "[notation][M10]") {
  CHECK(at("sign(x)", -2) == -1);
  CHECK(at("floor(x)", -0.5) == -1);
  CHECK(at("minimum(x, 2)", 5) == 2);
  CHECK(at("if isinf(x) or isnan(x) or not isfinite(x) then 1 else 0", inf) == 1);
  CHECK(at("real(integer(x > 0)) + x", 2) == 3);
  CHECK(at("pi*x", 1) == std::numbers::pi);  // the double nearest to it, by the reference's own arithmetic
  CHECK(at("expm1(x) + log1p(x) + erf(x) + sin(x) + tanh(x)", 0) == 0);
  CHECK(at("cos(x) + exp(x) + sqrt(x + 4)", 0) == 4);
  CHECK(at("cosh(x) + exp2(x + 3) + log2(x + 1) + tan(x) + sinh(x)", 0) == 9);
  CHECK(at("atan2(x, -1)", 0) == std::numbers::pi);
  CHECK(at("round(x) + 10*ceil(x) + 100*trunc(x)", -2.5) == -222);
  CHECK(value("f(a[n] : int) -> y[n] : int\n y[i] = floor(a[i]) + round(a[i])", {integers({2}, {3, -4})}).integer ==
        std::vector<std::int64_t>{6, -8});
}

TEST_CASE("M12 NaN", "[notation][M12]") {
  CHECK(at("if x < 1 or x >= 1 or x == x then 1 else 0", not_a_number) == 0);
  CHECK(at("if x != x then 1 else 0", not_a_number) == 1);
  CHECK(std::isnan(at("maximum(x, 1)", not_a_number)));
  CHECK(std::isnan(at("minimum(1, x)", not_a_number)));
  CHECK(at("x ^ 0", not_a_number) == 1);
  const Array<double> row = reals({3}, {1, not_a_number, 2});
  CHECK(std::isnan(value("f(a[n]) -> y\n y = max[k] a[k]", {row}).real.at(0)));
  CHECK(std::isnan(value("f(a[n]) -> y\n y = min[k] a[k]", {row}).real.at(0)));
  CHECK(value("f(a[n]) -> y : int\n y = argmax[k] a[k]", {row}).integer == std::vector<std::int64_t>{1});
  CHECK(value("f(a[n]) -> y\n y = max[k where k != 1] a[k] else 0", {row}).real == std::vector<double>{2});
}

TEST_CASE("M11 values come from the equations before the first part", "[notation][M11]") {
  const std::string text = "f(x[n]) -> y[n]\n y[i] = x[i]*x[i]";
  CHECK(equations_of(text + "\n also\n y[i] = x[i]^2", {f32({2})}) == equations_of(text, {f32({2})}));
}
