// Calls of programs that tell something: moves that change what they read and give several elements, cotangents that two
// operands could share.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "conformance/choices.hpp"
#include "conformance/signature.hpp"
#include "spec/library/library.hpp"
#include "spec/program/analysis.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Check;
using conformance_test::drawn;

namespace {

bool leaves_as_is(const std::string& name, const Dims& dims, const spec::Attributes& attributes) {
  const std::vector<std::optional<spec::ValueType>> operands{spec::ValueType{DType::f64, dims}};
  return conformance::leaves_as_is(spec::instantiate(spec::definition_named(name), operands, {}, attributes));
}

using Integers = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a move that changes nothing but axes of one element is told from others", "[parts]") {
  CHECK(leaves_as_is("transpose", {3, 4}, {{"permutation", Integers{0, 1}}}));
  CHECK_FALSE(leaves_as_is("transpose", {3, 4}, {{"permutation", Integers{1, 0}}}));
  CHECK_FALSE(leaves_as_is("transpose", {3, 3}, {{"permutation", Integers{1, 0}}}));
  CHECK(leaves_as_is("transpose", {3, 1}, {{"permutation", Integers{1, 0}}}));
  CHECK(leaves_as_is("reshape", {3, 4}, {{"shape", Integers{3, 1, 4}}}));
  CHECK_FALSE(leaves_as_is("reshape", {3, 4}, {{"shape", Integers{4, 3}}}));
  CHECK(leaves_as_is("broadcast_to", {3}, {{"shape", Integers{1, 3}}}));
  CHECK_FALSE(leaves_as_is("broadcast_to", {3}, {{"shape", Integers{2, 3}}}));
  CHECK_FALSE(leaves_as_is("flip", {3}, {{"axes", Integers{0}}}));
}

TEST_CASE("what repeats axes moves elements, what computes at each place does not", "[parts]") {
  CHECK(conformance::is_move(spec::definition_named("broadcast_to")));
  CHECK_FALSE(conformance::is_elementwise(spec::definition_named("broadcast_to")));
  CHECK(conformance::is_elementwise(spec::definition_named("add")));
  CHECK(conformance::is_elementwise(spec::definition_named("cast")));
}

// Of a slice of a slice that is empty nobody learns whether starts were added rightly.
TEST_CASE("of moves of moves nearly all read elements, and most change something", "[parts]") {
  std::size_t all = 0, with_elements = 0, changing = 0;
  for (const spec::Definition* d : spec::library()) {
    if (!conformance::is_move(*d)) continue;
    for (std::uint64_t i = 0; i < 2; ++i) {
      const auto c = drawn(std::string(d->name), Check::program, i, i == 0 ? DType::f32 : DType::f64);
      if (!c) continue;
      const auto types = spec::types_of(*c->program);
      std::set<std::string> moved;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        if (call.operation != d->name) continue;
        if (call.operands.front() && moved.contains(*call.operands.front())) {
          ++all;
          with_elements += types.at(*call.operands.front()).dims.count() > 0;
          changing += types.at(call.results.front()).dims.count() > 0 && !conformance::leaves_as_is(spec::instance_of(call, types, c->key.library));
        }
        moved.insert(call.results.begin(), call.results.end());
      }
    }
  }
  CAPTURE(all, with_elements, changing);
  CHECK(all >= 100);
  CHECK(with_elements * 100 >= all * 98);
  CHECK(changing * 100 >= all * 70);
}

// One array may be handed on for two operands where both have its shape; that shows where another part is added to one of them.
TEST_CASE("in a fan of derivatives two calls share a value, and what each reads besides has its shape", "[parts]") {
  std::size_t all = 0, twice = 0;
  for (const char* operation : {"add", "sub", "mul", "maximum"}) {
    for (std::uint64_t i = 4; i < 52; i += 12) {
      const auto c = drawn(operation, Check::program, i, DType::f64);
      if (!c || c->mode != spec::Mode::vjp) continue;
      ++all;
      const auto types = spec::types_of(*c->program);
      const std::string& first = c->program->inputs.front().name;
      std::size_t sharing = 0;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        if (call.operation != operation || call.operands.size() != 2) continue;
        const auto& [a, b] = std::pair(call.operands[0], call.operands[1]);
        sharing += a && b && (a == first || b == first) && a != b && types.at(*a) == types.at(*b) && types.at(*a).dims.count() > 1;
      }
      twice += sharing >= 2;
    }
  }
  CAPTURE(all, twice);
  CHECK(all >= 12);
  CHECK(twice * 10 >= all * 7);
}
