// Every definition of the library parses, and elaborates on sample shapes.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "tests/spec/notation_samples.hpp"

using namespace etalon;
using namespace etalon::spec;

TEST_CASE("every definition parses", "[notation][library]") {
  REQUIRE(library().size() >= 41);
  for (const Definition* d : library()) {
    INFO(d->diagnosis.message());
    CHECK(d->ok());
  }
}

TEST_CASE("every definition has a doc line", "[notation][library]") {
  for (const Definition* d : library()) {
    INFO(d->name);
    CHECK(!d->doc.empty());
  }
}

TEST_CASE("definitions elaborate on sample shapes to systems that verify", "[notation][library]") {
  std::set<std::string> seen;
  for (const Sample& s : samples()) {
    INFO(s.operation);
    seen.insert(s.operation);
    Instance instance;
    REQUIRE_NOTHROW(instance = instantiate(definition_named(s.operation), s.operands, s.packs, s.attributes));
    CHECK(instance.results == s.results);
    CHECK(instance.system.outputs.size() == s.results.size());
    INFO(to_text(instance.system));
    CHECK_NOTHROW(verify(instance.system));
  }
  CHECK(seen.size() >= 41);
}

TEST_CASE("an unknown operation is refused with the nearest name", "[notation][library]") {
  CHECK_THROWS_WITH(definition_named("sofmax"), Catch::Contains("softmax"));
}
