// Calls that were elaborated lately: what is kept is what elaboration gives, and never another call's.
#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "spec/library/library.hpp"
#include "spec/notation/lately_instantiated.hpp"

namespace etalon::spec {
namespace {

using notation::key_of;
using notation::LatelyInstantiated;
using Operands = std::vector<std::optional<ValueType>>;

const Operands rows{ValueType{DType::f32, {3, 4}}};

std::string key(const Definition& d, const Operands& operands, const Attributes& attributes = {}) {
  return key_of(d, 0, operands, {}, attributes);
}

TEST_CASE("calls that differ in anything have different keys", "[lately]") {
  const Definition& softmax = definition_named("softmax");
  const std::string one = key(softmax, rows, {{"axis", std::int64_t{1}}});
  CHECK(one == key(softmax, rows, {{"axis", std::int64_t{1}}}));
  CHECK(one != key(softmax, rows, {{"axis", std::int64_t{0}}}));
  CHECK(one != key(softmax, rows, {{"axis", 1.0}}));
  CHECK(one != key(softmax, rows));
  CHECK(one != key(softmax, {ValueType{DType::f64, {3, 4}}}, {{"axis", std::int64_t{1}}}));
  CHECK(one != key(softmax, {ValueType{DType::f32, {4, 3}}}, {{"axis", std::int64_t{1}}}));
  CHECK(one != key(softmax, {ValueType{DType::f32, {3, 4}}, std::nullopt}, {{"axis", std::int64_t{1}}}));
  CHECK(one != key_of(softmax, 1, rows, {}, {{"axis", std::int64_t{1}}}));
  CHECK(one != key(definition_named("log_softmax"), rows, {{"axis", std::int64_t{1}}}));
  CHECK(key(softmax, rows, {{"a", 0.0}}) != key(softmax, rows, {{"a", -0.0}}));
  const Definition& concat = definition_named("concat");
  const Operands four(4, rows.front());
  CHECK(key_of(concat, 0, four, std::vector<std::size_t>{1, 3}, {}) != key_of(concat, 0, four, std::vector<std::size_t>{3, 1}, {}));
}

// A user's definitions come and go, and another may stand where one was.
TEST_CASE("an instance follows the text of its definition and of what that calls", "[lately]") {
  std::vector<std::string> seen;
  for (const std::string factor : {"2", "3"}) {
    const Library own = Library().with("times(x[..s]) -> y[..s]\n  y[..i] = " + factor + " * x[..i]\n"
                                       "outer_times(x[..s]) -> y[..s]\n  y = times(x)\n");
    for (const char* name : {"times", "outer_times"}) seen.push_back(to_text(instantiate(own.named(name), rows, {}, {}).system));
  }
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].find("2 *") != std::string::npos);
  CHECK(seen[1].find("2 *") != std::string::npos);
  CHECK(seen[2].find("3 *") != std::string::npos);
  CHECK(seen[3].find("3 *") != std::string::npos);
}

TEST_CASE("what was kept lately is found, what was kept long ago is not", "[lately]") {
  LatelyInstantiated lately;
  Instance instance;
  for (std::size_t n = 0; n <= 2 * LatelyInstantiated::at_least; ++n) {
    instance.results = {ValueType{DType::f32, {static_cast<std::int64_t>(n)}}};
    lately.keep(std::to_string(n), instance);
    for (std::size_t back = 0; back < std::min(n + 1, LatelyInstantiated::at_least); ++back) {
      const Instance* found = lately.find(std::to_string(n - back));
      REQUIRE(found != nullptr);
      CHECK(found->results.front().dims[0] == static_cast<std::int64_t>(n - back));
    }
  }
  LatelyInstantiated passing;
  for (std::size_t n = 0; n <= 2 * LatelyInstantiated::at_least; ++n) passing.keep(std::to_string(n), instance);
  CHECK(passing.find("0") == nullptr);
}

}  // namespace
}  // namespace etalon::spec
