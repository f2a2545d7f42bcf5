// Which pairs of calls give back something simpler among ordinary numbers.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "conformance/collapse.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using conformance::Link;

namespace {

const spec::ValueType row{DType::f64, Dims{6}};

spec::Instance called(const std::string& name, std::size_t operands, const spec::Attributes& attributes = {}, DType dtype = DType::f64) {
  return spec::instantiate(spec::definition_named(name), std::vector<std::optional<spec::ValueType>>(operands, spec::ValueType{dtype, Dims{6}}), {}, attributes);
}

constexpr Link own{Link::To::itself, 0}, result{Link::To::result, 0}, first{Link::To::operand, 0}, second{Link::To::operand, 1};

}  // namespace

TEST_CASE("a function of its inverse gives back what that read, and one of another does not", "[collapse]") {
  CHECK(conformance::collapses(called("log", 1), called("exp", 1), {result}));
  CHECK(conformance::collapses(called("square", 1), called("sqrt", 1), {result}));
  CHECK(conformance::collapses(called("neg", 1), called("neg", 1), {result}));
  CHECK_FALSE(conformance::collapses(called("log", 1), called("exp2", 1), {result}));
  CHECK_FALSE(conformance::collapses(called("neg", 1), called("exp", 1), {result}));
}

TEST_CASE("what is added, multiplied or bounded is taken away again, by the operand that was there", "[collapse]") {
  CHECK(conformance::collapses(called("add", 2), called("sub", 2), {result, second}));
  CHECK_FALSE(conformance::collapses(called("add", 2), called("sub", 2), {result, own}));
  CHECK_FALSE(conformance::collapses(called("add", 2), called("sub", 2), {second, result}));
  CHECK(conformance::collapses(called("mul", 2), called("div", 2), {result, first}));
  CHECK(conformance::collapses(called("minimum", 2), called("maximum", 2), {result, second}));
  CHECK(conformance::collapses(called("exp", 1), called("sub", 2), {result, result}));
  CHECK(conformance::collapses(called("mul", 2, {}, DType::i64), called("floor_divide", 2, {}, DType::i64), {result, second}));
}

TEST_CASE("whole numbers survive what cuts, others do not have to", "[collapse]") {
  const spec::Attributes whole{{"dtype", std::string("i32")}}, real{{"dtype", std::string("f64")}};
  const spec::Instance back = spec::instantiate(spec::definition_named("cast"), std::vector<std::optional<spec::ValueType>>{spec::ValueType{DType::i32, Dims{6}}}, {}, real);
  CHECK(conformance::collapses(called("cast", 1, whole), back, {result}));
}

TEST_CASE("every choice of links reads the result, and only values of the operand's type", "[collapse]") {
  const std::vector<std::optional<spec::ValueType>> two{row, row}, one{row};
  CHECK(conformance::ways_to_read(two, one, row).size() == 5);  // nine less those of no result
  const spec::ValueType truth{DType::boolean, Dims{6}};
  CHECK(conformance::ways_to_read({truth, row, row}, two, truth).size() == 9);
  CHECK(conformance::ways_to_read({row}, one, truth).empty());
}
