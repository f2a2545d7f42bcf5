// The three-way agreement to 40 digits, and second derivatives, for every operation over a covering array of its
// attributes. The hidden test asks for a hundred points of each call; the others for one.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "covering.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using test::Agreement;
using test::CallPoint;

namespace {

bool has_real_result(const spec::Instance& instance) {
  return std::any_of(instance.results.begin(), instance.results.end(),
                     [](const spec::ValueType& r) { return kind_of(r.dtype) == Kind::real; });
}

Agreement agree(const CallPoint& at, bool second, std::mt19937_64& engine) {
  Agreement a = test::tangents_agree(at.instance.system, at.point, at.wrt, engine, true);
  a.join(test::cotangents_agree(at.instance.system, at.point, at.wrt, engine));
  if (second) a.join(test::second_derivatives_agree(at.instance.system, at.point, at.wrt, engine, true));
  return a;
}

struct Counts {
  std::size_t operations = 0, calls = 0, points = 0, compared = 0, nowhere = 0;
};

void check_operation(const spec::Definition& d, int points, Counts& counts) {
  std::mt19937_64 engine(conformance::specification_hash().size() + d.name.size());
  const auto calls = test::covering_calls(d);
  REQUIRE(!calls.empty());
  std::size_t compared = 0, asked = 0;
  for (const conformance::CallTypes& call : calls) {
    INFO(test::describe(call));
    for (int p = 0; p < points; ++p) {
      const auto at = test::draw_point(call, engine);
      if (!at) {  // a mean over rows that are all left out is no number anywhere
        ++counts.nowhere;
        break;
      }
      if (at->wrt.empty() || !has_real_result(at->instance)) break;
      ++asked;
      const Agreement a = agree(*at, p % 10 == 0, engine);
      CHECK(a.disagreement == "");
      compared += a.compared;
      ++counts.points;
    }
  }
  CHECK((compared > 0 || asked == 0));
  counts.calls += calls.size();
  counts.operations += compared > 0 ? 1 : 0;
  counts.compared += compared;
}

void check_library(int points) {
  Counts counts;
  for (const spec::Definition* d : spec::library()) {
    INFO(d->name);
    check_operation(*d, points, counts);
  }
  CHECK(counts.compared > 0);
  CHECK(counts.nowhere * 100 < counts.calls);
  WARN(counts.operations << " operations with derivatives, " << counts.calls << " calls, " << counts.points
                         << " points, " << counts.compared << " numbers compared");
}

}  // namespace

TEST_CASE("first and second derivatives agree for a covering array of every operation's attributes", "[derivatives]") {
  check_library(1);
}

TEST_CASE("first and second derivatives agree at a hundred points", "[.hundred]") { check_library(100); }
