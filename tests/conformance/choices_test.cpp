// An attribute that changes no number cannot be missed, and cases are drawn so that it does.
#include <catch2/catch.hpp>
#include <string>

#include "conformance/choices.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::CallTypes;
using conformance::Check;

TEST_CASE("choices show where they change numbers", "[choices]") {
  const spec::Definition& d = spec::definition_named("avg_pool1d");
  const auto call = [](std::int64_t padding, bool counts) {
    CallTypes c{"avg_pool1d", {spec::ValueType{DType::f32, {2, 2, 6}}}, {}, {}};
    c.attributes["kernel"] = std::vector<std::int64_t>{3};
    c.attributes["padding"] = std::vector<std::int64_t>{padding};
    c.attributes["count_include_pad"] = counts;
    return c;
  };
  CHECK_FALSE(conformance::choices_show(d, call(0, false)));
  CHECK(conformance::choices_show(d, call(1, false)));
  CHECK(conformance::choices_show(d, call(0, true)));  // the default
  CHECK(conformance::give_the_same(d, call(0, false), call(0, true)));
  CHECK_FALSE(conformance::give_the_same(d, call(1, false), call(1, true)));
  CHECK_FALSE(conformance::give_the_same(d, call(0, true), call(1, true)));  // of other types
}

TEST_CASE("cases are drawn in which their choices show", "[choices][cases]") {
  std::size_t chosen = 0, idle = 0;
  for (const spec::Definition* d : spec::library()) {
    for (const std::uint64_t index : {4U, 8U, 12U, 20U}) {
      const auto c = conformance_test::drawn(std::string(d->name), Check::value, index);
      if (!c || c->call.attributes.empty() || c->planned < 2) continue;
      ++chosen;
      idle += conformance::choices_show(*d, c->call) ? 0 : 1;
    }
  }
  INFO(idle << " of " << chosen);
  CHECK(chosen >= 200);
  CHECK(idle * 50 <= chosen);
}
