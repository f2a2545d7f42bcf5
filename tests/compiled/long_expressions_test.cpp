// Expressions of thousands of terms: gradients of what is used everywhere.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "compiled/rewrite/passes.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/passes_build.hpp"

using namespace etalon;
using namespace etalon::test;
using namespace etalon::compiled;

namespace {

/// y[i] = x[0, i] + x[1, i] + …, from the left, in one expression.
System long_sum(std::int64_t terms) {
  Build b;
  const TensorId x = b.input("x", DType::f32, {terms, 3});
  const TensorId y = b.local("y", DType::f32, {3}, [&](const Indices& i) {
    Expr sum;
    for (std::int64_t k = 0; k < terms; ++k) {
      const Expr term = b.at(x, {spec::integer(k), i[0]});
      sum = sum.valid() ? sum + term : term;
    }
    return sum;
  });
  b.system.outputs = {y};
  return b.system;
}

std::size_t longest(const System& s) {
  std::size_t most = 0;
  for (const spec::Equation& e : s.equations) most = std::max(most, size_of_expression(e.value));
  return most;
}

}  // namespace

TEST_CASE("long expressions are cut, short ones stay", "[compiled][long]") {
  System s = long_sum(1000);
  REQUIRE(longest(s) > 3000);
  cut_expressions(s);
  CHECK_NOTHROW(spec::verify(s));
  CHECK(s.equations.size() > 10);
  CHECK(longest(s) < 2 * largest_expression);
  System small = long_sum(20);
  const std::string before = spec::to_text(small);
  cut_expressions(small);
  CHECK(spec::to_text(small) == before);
}

TEST_CASE("what a condition guards is not cut out of it", "[compiled][long]") {
  Build b;
  const TensorId x = b.input("x", DType::f32, {1000});
  const TensorId y = b.local("y", DType::f32, {2000}, [&](const Indices& i) {
    // Only under the condition is x[i] in range.
    Expr sum = b.at(x, {i[0]});
    for (int k = 0; k < 500; ++k) sum = sum + b.at(x, {i[0]});
    return spec::select(spec::apply(Primitive::lt, {i[0], spec::integer(1000)}), sum, spec::decimal(0));
  });
  b.system.outputs = {y};
  REQUIRE(longest(b.system) > 4 * largest_expression);
  cut_expressions(b.system);
  CHECK(b.system.equations.size() == 1);
  CHECK_NOTHROW(spec::verify(b.system));
}

TEST_CASE("a sum in parts is the sum from the left, bit for bit", "[compiled][long]") {
  const System s = long_sum(1000);
  const HostTensor x = normal_numbers(DType::f32, {1000, 3}, 7);
  std::vector<float> expected(3);
  for (std::size_t i = 0; i < 3; ++i) {
    expected[i] = x.view<float>()[i];
    for (std::size_t k = 1; k < 1000; ++k) expected[i] += x.view<float>()[3 * k + i];
  }
  const auto found = compiled_values(s, {x});
  REQUIRE(found.size() == 1);
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[0].view<float>()[i] == expected[i]);
}

TEST_CASE("a value that is used twenty thousand times has a gradient", "[compiled][long]") {
  // y = sum over k of (k % 7)·x, so that dy/dx is the sum of the factors: a whole number that f32 holds exactly.
  constexpr int uses = 20000;
  std::string text = "input x : f32[2]\n";
  double factors = 0;
  for (int k = 0; k < uses; ++k) {
    text += fmt::format("m{} = scale(x) {{by = {}.0}}\n", k, k % 7);
    text += k == 0 ? "a0 = scale(m0) {by = 1.0}\n" : fmt::format("a{} = add(a{}, m{})\n", k, k - 1, k);
    factors += k % 7;
  }
  text += fmt::format("y = sum(a{})\ng = vjp(y; x)\noutput g\n", uses - 1);
  const System s = spec::lower(spec::parse_program(text));
  HostTensor x(DType::f32, {2});
  const auto found = compiled_values(s, {x});
  REQUIRE(found.size() == 1);
  CHECK(found[0].view<float>()[0] == static_cast<float>(factors));
  CHECK(found[0].view<float>()[1] == static_cast<float>(factors));
}
