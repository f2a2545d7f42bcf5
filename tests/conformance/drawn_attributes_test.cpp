// Which attributes and constants the calls of drawn programs have, and which calls stand beside the same call with others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/smaller_program.hpp"
#include "conformance/values.hpp"
#include "spec/program/analysis.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance_test::drawn;

TEST_CASE("a call stands beside one that differs in the last digits of an attribute, or in one attribute", "[cases]") {
  std::size_t asked = 0, digits = 0;
  for (const char* operation : {"leaky_relu", "elu", "scale", "layer_norm", "clamp", "softmax", "cumsum", "conv1d", "max_pool1d", "huber"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 1, dtype);
      if (!c) continue;
      const auto& first = std::get<spec::Call>(c->program->steps.front());
      const auto& last = std::get<spec::Call>(c->program->steps.back());
      asked += last.operands == first.operands && last.attributes != first.attributes;
      for (const auto& [name, value] : last.attributes) {
        const auto* x = std::get_if<double>(&value);
        const auto* y = first.attributes.contains(name) ? std::get_if<double>(&first.attributes.at(name)) : nullptr;
        digits += x != nullptr && y != nullptr && *x != *y && std::abs(*x - *y) <= 0x1p-19 * std::abs(*y);
      }
    }
  }
  CHECK(asked >= 12);
  CHECK(digits >= 5);
}

TEST_CASE("operands are constants of the program, zeros of both signs and powers of two among them", "[cases]") {
  std::set<double> numbers;
  std::set<std::size_t> places;
  bool negative_zero = false;
  for (const char* operation : {"mul", "div", "remainder", "pow"}) {
    const auto c = drawn(operation, Check::program, 6);
    REQUIRE(c);
    std::set<std::string> constants;
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      if (call.operands.empty()) {
        constants.insert(call.results.begin(), call.results.end());
        for (const auto& [name, value] : call.attributes) {
          const auto* x = std::get_if<double>(&value);
          if (x != nullptr) numbers.insert(*x);
          negative_zero = negative_zero || (x != nullptr && *x == 0 && std::signbit(*x));
          if (const auto* n = std::get_if<std::int64_t>(&value)) numbers.insert(static_cast<double>(*n));
        }
      }
      for (std::size_t k = 0; k < call.operands.size(); ++k) {
        if (call.operands[k] && constants.contains(*call.operands[k])) places.insert(k);
      }
    }
  }
  CHECK(numbers.size() >= 8);
  CHECK(numbers.contains(0));
  CHECK(numbers.contains(std::numeric_limits<double>::infinity()));
  CHECK(negative_zero);
  CHECK(places == std::set<std::size_t>{0, 1});
}

TEST_CASE("operations read their own results under other attributes", "[cases]") {
  std::size_t composed = 0, differ = 0;
  for (const char* operation : {"slice", "transpose", "pad", "flip", "softmax", "triu", "cumsum", "roll"}) {
    for (const auto& [i, dtype] : {std::pair{0U, DType::f32}, std::pair{4U, DType::f32}, std::pair{6U, DType::f32}, std::pair{0U, DType::f64}, std::pair{6U, DType::f64}}) {
      const auto c = drawn(operation, Check::program, i, dtype);
      if (!c) continue;
      std::set<std::string> given;
      const spec::Attributes& attributes = std::get<spec::Call>(c->program->steps.front()).attributes;
      bool others = false;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        const std::vector<std::string> read = spec::values_read(call);
        const bool own = std::any_of(read.begin(), read.end(), [&](const auto& name) { return given.contains(name); });
        if (call.operation == operation && own) ++composed;
        given.insert(call.results.begin(), call.results.end());
        others = others || call.attributes != attributes;
      }
      differ += others;
    }
  }
  CHECK(composed >= 40);
  CHECK(differ >= 20);
}

TEST_CASE("attributes that are numbers run as scalars of the program", "[cases]") {
  std::size_t scalars = 0;
  for (const char* operation : {"leaky_relu", "elu", "huber", "layer_norm", "clamp", "adam"}) {
    for (const std::uint64_t i : {5U, 17U, 29U, 41U}) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      REQUIRE(c->operands.size() == c->program->inputs.size());
      for (const auto& step : c->program->steps) scalars += spec::runtime_attributes(std::get<spec::Call>(step)).size();
      for (const Case& smaller : conformance::smaller_programs(*c)) {
        REQUIRE_NOTHROW(spec::verify(*smaller.program));
        CHECK(smaller.operands.size() == smaller.program->inputs.size());
      }
    }
  }
  CHECK(scalars >= 12);
}

TEST_CASE("an attribute that runs twice has two values, which no f32 holds", "[cases]") {
  std::size_t twice = 0;
  for (const char* operation : {"leaky_relu", "elu", "scale", "clamp", "layer_norm", "huber", "smooth_abs", "power", "batch_norm", "group_norm"}) {
    const auto c = drawn(operation, Check::program, 5, DType::f64);
    REQUIRE(c);
    std::map<std::string, std::set<double>> values;
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < c->program->inputs.size(); ++i) place[c->program->inputs[i].name] = i;
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      for (const auto& [name, value] : call.attributes) {
        const auto* run = std::get_if<spec::ValueName>(&value);
        if (run == nullptr || call.operation != operation) continue;
        const double x = conformance::element(*c->operands[place.at(run->name)], 0);
        values[name].insert(x);
        CHECK((x == 0 || std::isinf(x) || x != static_cast<double>(static_cast<float>(x))));
      }
    }
    for (const auto& [name, of] : values) twice += of.size() >= 2;
  }
  CHECK(twice >= 3);
}

TEST_CASE("a call stands beside the one with its operands exchanged", "[cases]") {
  std::size_t exchanged = 0;
  for (const char* operation : {"sub", "div", "pow", "matmul", "atan2", "outer"}) {
    const auto c = drawn(operation, Check::program, 1);
    if (!c) continue;
    const auto& first = std::get<spec::Call>(c->program->steps.front());
    const auto exchanges = [&](const auto& step) {
      const auto& call = std::get<spec::Call>(step);
      return call.operation == operation && call.operands.size() == 2 && call.operands[0] == first.operands[1] && call.operands[1] == first.operands[0];
    };
    exchanged += first.operands[0] != first.operands[1] && std::any_of(c->program->steps.begin(), c->program->steps.end(), exchanges);
  }
  CHECK(exchanged >= 3);
}
