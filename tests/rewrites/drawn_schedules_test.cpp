// Schedules that a search might find: drawn ones run, and give the bits of the one that costs decide. Where they may order sums
// otherwise, the sums are such that every order gives the same bits.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "compiled/drawn.hpp"
#include "compiled/runtime/device.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/directed_systems.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

/// Runs a system with drawn schedules. \returns the kinds of what was drawn
std::multiset<std::string> compare(const spec::System& system, const std::vector<HostTensor>& inputs, const compiled::CompileOptions& options,
                                   std::uint64_t schedules, bool reorder_sums) {
  std::multiset<std::string> kinds;
  const std::vector<HostTensor> expected = outputs_of(system, options, inputs);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    compiled::CompileOptions drawn = options;
    drawn.decisions = compiled::drawn_decisions(system, options, options.device->machine(), {.seed = seed, .changes = 12, .reorder_sums = reorder_sums});
    INFO("with\n" << compiled::to_text(drawn.decisions));
    CHECK(same_bits(outputs_of(system, drawn, inputs), expected));
    for (const compiled::DecisionLine& line : drawn.decisions) kinds.insert(line.kind);
  }
  return kinds;
}

}  // namespace

TEST_CASE("drawn schedules that keep the order of sums keep every bit", "[sound]") {
  std::multiset<std::string> kinds;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::rounded);
    kinds.merge(compare(system, drawn_inputs(system, seed), eager(), 3, false));
  }
  CHECK(kinds.size() > 100);
  for (const char* kind : {"tile", "block", "steps", "lanes", "stream"}) {
    INFO(kind);
    CHECK(kinds.count(kind) > 0);
  }
}

TEST_CASE("drawn schedules of every kind keep the bits of sums that have one result in every order", "[sound]") {
  std::multiset<std::string> kinds;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::exact);
    kinds.merge(compare(system, drawn_inputs(system, seed), eager(), 3, true));
  }
  compiled::CompileOptions usual;
  usual.device = eager().device;
  for (const Directed& directed : directed_programs()) {
    if (directed.sums != Sums::exact) continue;
    INFO(directed.text);
    const spec::System system = spec::lower(spec::parse_program(directed.text));
    kinds.merge(compare(system, whole_inputs(system, 1), usual, 2, true));
  }
  for (const char* kind : {"lift", "wide", "tile", "pack", "join", "pass", "recompute", "lanes"}) {
    INFO(kind);
    CHECK(kinds.count(kind) > 0);
  }
}

}  // namespace etalon::test
