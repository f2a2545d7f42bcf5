// How much the code generator tries hangs on the work of all kernels together.
#include <catch2/catch.hpp>

#include "compiled/emit/llvm/effort.hpp"

using namespace etalon::compiled;

TEST_CASE("kernels that do little together are compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(3);
  for (loops::Nest& nest : nests) nest.work = 1000;
  CHECK(is_hasty(nests));
  nests[1].work = 20000;
  CHECK_FALSE(is_hasty(nests));
  nests.assign(40, nests[0]);
  CHECK_FALSE(is_hasty(nests));
}

TEST_CASE("contractions are never compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(1);
  loops::Loop rows;
  rows.steps.push_back({loops::Contract{}});
  nests[0].steps.push_back({std::move(rows)});
  nests[0].work = 100;
  CHECK_FALSE(is_hasty(nests));
}

TEST_CASE("hasty passes leave out what only orders instructions and counts addresses", "[codegen]") {
  HastyPasses gate;
  CHECK_FALSE(gate.shouldRunPass("Loop Strength Reduction", "loop"));
  CHECK_FALSE(gate.shouldRunPass("Machine Instruction Scheduler", "function"));
  CHECK(gate.shouldRunPass("X86 DAG->DAG Instruction Selection", "function"));
}
