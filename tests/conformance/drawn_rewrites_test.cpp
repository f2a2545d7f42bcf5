// What compilers rewrite is asked for where the rewriting could go wrong: with columns over squares, in another order, with other
// attributes, at equal numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/signature.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance_test::drawn;

namespace {

using Integers = std::vector<std::int64_t>;

/// The calls of a program by what they give.
std::map<std::string, const spec::Call*> makers_of(const spec::Program& program) {
  std::map<std::string, const spec::Call*> makers;
  for (const auto& step : program.steps) {
    const auto& call = std::get<spec::Call>(step);
    for (const std::string& name : call.results) makers[name] = &call;
  }
  return makers;
}

/// Who made the operand, where it is no input.
const spec::Call* maker_of(const std::map<std::string, const spec::Call*>& makers, const std::optional<std::string>& name) {
  const auto found = makers.find(name.value_or(""));
  return found == makers.end() ? nullptr : found->second;
}

const spec::Input* input_of(const spec::Program& program, const std::optional<std::string>& name) {
  const auto found = std::find_if(program.inputs.begin(), program.inputs.end(), [&](const spec::Input& i) { return i.name == name; });
  return found == program.inputs.end() ? nullptr : &*found;
}

template <class Visit>
void for_each_call(const Case& c, const Visit& visit) {
  const auto makers = makers_of(*c.program);
  for (const auto& step : c.program->steps) visit(std::get<spec::Call>(step), makers);
}

}  // namespace

TEST_CASE("a column and a row are joined with square products", "[cases]") {
  std::size_t columns = 0, rows = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f64, 6U}}) {
      const auto c = drawn("matmul", Check::program, i, dtype, seed);
      REQUIRE(c);
      for_each_call(*c, [&](const spec::Call& call, const auto& makers) {
        if (!conformance::is_elementwise(spec::definition_named(call.operation)) || call.operands.size() != 2) return;
        for (const std::size_t side : {0U, 1U}) {
          const spec::Call* product = maker_of(makers, call.operands[side]);
          const spec::Input* other = input_of(*c->program, call.operands[1 - side]);
          if (product == nullptr || product->operation != "matmul" || other == nullptr || other->dims.rank < 2) continue;
          const spec::Input *x = input_of(*c->program, product->operands[0]), *y = input_of(*c->program, product->operands[1]);
          if (x == nullptr || y == nullptr || x->dims.rank < 2 || y->dims.rank < 2) continue;
          const auto from_last = [](const spec::Input& input, std::size_t k) { return input.dims[input.dims.rank - k]; };
          const std::int64_t extent = from_last(*x, 2);
          if (extent != from_last(*y, 1) || extent < 2) continue;
          columns += from_last(*other, 1) == 1 && from_last(*other, 2) == extent;
          rows += from_last(*other, 2) == 1 && from_last(*other, 1) == extent;
        }
      });
    }
  }
  CHECK(columns >= 3);
  CHECK(rows >= 3);
}

TEST_CASE("what was taken apart is joined in another order", "[cases]") {
  std::size_t turned = 0;
  for (const char* operation : {"concat", "split", "stack"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 0, dtype);
      REQUIRE(c);
      for_each_call(*c, [&](const spec::Call& call, const auto& makers) {
        const spec::Call* apart = maker_of(makers, call.operands.empty() ? std::nullopt : call.operands.front());
        if (apart == nullptr || apart->results.size() < 2 || call.operands.size() != apart->results.size()) return;
        std::vector<std::string> read;
        for (const auto& name : call.operands) read.push_back(name.value_or(""));
        turned += read != apart->results && std::is_permutation(read.begin(), read.end(), apart->results.begin(), apart->results.end());
      });
    }
  }
  CHECK(turned >= 3);
}

TEST_CASE("windows slide over what numbers were put around", "[cases]") {
  std::size_t around = 0, asked = 0;
  for (const char* operation : {"conv1d", "conv2d", "avg_pool1d", "max_pool2d"}) {
    for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f64, 2U}}) {
      const auto c = drawn(operation, Check::program, i, dtype);
      REQUIRE(c);
      ++asked;
      for_each_call(*c, [&](const spec::Call& call, const auto& makers) {
        const spec::Call* before = call.operation == operation ? maker_of(makers, call.operands.front()) : nullptr;
        if (before == nullptr || before->operation != "pad") return;
        const auto& low = std::get<Integers>(before->attributes.at("low"));
        const auto& high = std::get<Integers>(before->attributes.at("high"));
        const bool apart = low[0] == 0 && low[1] == 0 && high[0] == 0 && high[1] == 0;
        const bool more = std::any_of(low.begin(), low.end(), [](auto n) { return n > 0; }) || std::any_of(high.begin(), high.end(), [](auto n) { return n > 0; });
        around += apart && more && std::get<double>(before->attributes.at("value")) != 0;
      });
    }
  }
  CHECK(asked == 8);
  CHECK(around >= 6);
}

TEST_CASE("integers go through a narrower type and back", "[cases]") {
  const auto c = drawn("cast", Check::program, 4, DType::f32);
  REQUIRE(c);
  std::size_t wrapped = 0;
  for_each_call(*c, [&](const spec::Call& call, const auto& makers) {
    const spec::Call* there = maker_of(makers, call.operands.front());
    const spec::Input* from = there == nullptr ? nullptr : input_of(*c->program, there->operands.front());
    if (from == nullptr || from->dtype != DType::i64) return;
    wrapped += there->attributes.at("dtype") == spec::AttributeValue(std::string("i32")) && call.attributes.at("dtype") == spec::AttributeValue(std::string("i64"));
  });
  CHECK(wrapped >= 2);
}

TEST_CASE("of reductions alike in types two have other axes", "[cases]") {
  std::size_t other = 0, asked = 0;
  for (const char* operation : {"sum", "max", "min", "prod", "mean"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 1, dtype);
      REQUIRE(c);
      ++asked;
      const auto& first = std::get<spec::Call>(c->program->steps.front());
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        if (call.operands != first.operands || call.attributes.at("keepdims") != first.attributes.at("keepdims")) continue;
        Integers one = std::get<Integers>(first.attributes.at("axes")), two = std::get<Integers>(call.attributes.at("axes"));
        other += one.size() == two.size() && !std::is_permutation(one.begin(), one.end(), two.begin());
      }
    }
  }
  CHECK(asked == 10);
  CHECK(other >= 7);
}

TEST_CASE("a constant meets its equal, under a derivative too", "[cases]") {
  std::size_t equal = 0;
  for (const char* operation : {"maximum", "minimum"}) {
    const auto c = drawn(operation, Check::program, 6, DType::f64);
    REQUIRE(c);
    REQUIRE(c->mode != spec::Mode::forward);
    for_each_call(*c, [&](const spec::Call& call, const auto& makers) {
      for (const std::size_t side : {0U, 1U}) {
        const spec::Call* constant = call.operation == operation ? maker_of(makers, call.operands[side]) : nullptr;
        const spec::Input* other = constant == nullptr ? nullptr : input_of(*c->program, call.operands[1 - side]);
        if (other == nullptr || !constant->attributes.contains("value")) continue;
        const auto* value = std::get_if<double>(&constant->attributes.at("value"));
        if (value == nullptr || other->dtype != DType::f64) continue;
        const double number = *value;
        const HostTensor& t = *c->operands[static_cast<std::size_t>(other - c->program->inputs.data())];
        bool meets = false;
        for (std::size_t e = 0; e < static_cast<std::size_t>(t.dims.count()); ++e) meets = meets || conformance::element(t, e) == number;
        equal += meets;
      }
    });
  }
  CHECK(equal >= 8);
}
