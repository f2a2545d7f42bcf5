// How much the code generator tries hangs on the work of all kernels together.
#include <catch2/catch.hpp>

#include "compiled/emit/llvm/effort.hpp"

using namespace etalon::compiled;

TEST_CASE("kernels that do little together are compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(3);
  for (loops::Nest& nest : nests) nest.work = 1000;
  CHECK(effort_for(nests) == Effort::hasty);
  nests[1].work = 20000;
  CHECK(effort_for(nests) == Effort::full);
  nests.assign(40, nests[0]);
  CHECK(effort_for(nests) == Effort::full);
}

TEST_CASE("contractions are never compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(1);
  loops::Loop rows;
  rows.steps.push_back({loops::Contract{}});
  nests[0].steps.push_back({std::move(rows)});
  nests[0].work = 100;
  CHECK(effort_for(nests) == Effort::full);
}
