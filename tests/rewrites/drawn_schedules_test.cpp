// Schedules that a search might find: drawn ones run, and give the bits of the one that costs decide. Where they may order sums
// otherwise, the sums are such that every order gives the same bits.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "compiled/drawn.hpp"
#include "compiled/runtime/processor.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/directed_systems.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

/// What was drawn.
struct Met {
  std::multiset<std::string> kinds;
  std::size_t other_loops = 0;  ///< schedules that made others
};

/// Runs a system with drawn schedules.
void compare(const spec::System& system, const std::vector<HostTensor>& inputs, const compiled::CompileOptions& options, std::uint64_t schedules,
             bool reorder_sums, Met& met) {
  const compiled::Machine machine = options.device->machine();
  const compiled::Compilation usual = lowered(system, options, machine);
  const std::vector<HostTensor> expected = outputs_of(system, options, inputs);
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    compiled::CompileOptions drawn = options;
    drawn.decisions = compiled::drawn_decisions(system, options, machine, {.seed = seed, .changes = 12, .reorder_sums = reorder_sums});
    INFO("with\n" << compiled::to_text(drawn.decisions));
    CHECK(same_bits(outputs_of(system, drawn, inputs), expected));
    for (const compiled::DecisionLine& line : drawn.decisions) met.kinds.insert(line.kind);
    met.other_loops += alike(usual, lowered(system, drawn, machine)) ? 0 : 1;
  }
}

}  // namespace

TEST_CASE("drawn schedules that keep the order of sums keep every bit", "[sound]") {
  Met met;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::rounded);
    compare(system, drawn_inputs(system, seed), eager(), 3, false, met);
  }
  CHECK(met.kinds.size() > 100);
  CHECK(met.other_loops > 40);
  for (const char* kind : {"tile", "block", "steps", "lanes", "stream"}) {
    INFO(kind);
    CHECK(met.kinds.count(kind) > 0);
  }
}

TEST_CASE("drawn schedules on narrower vectors keep the bits of wider ones", "[sound]") {
  if (!eager().device->machine().has_vectors()) return;
  compiled::CompileOptions narrow = eager();
  narrow.device = std::make_shared<compiled::Processor>(compiled::machines::avx2);
  Met met;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::rounded);
    const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
    CHECK(same_bits(outputs_of(system, narrow, inputs), outputs_of(system, eager(), inputs)));
    compare(system, inputs, narrow, 2, false, met);
  }
  CHECK(met.kinds.count("lanes") > 0);
}

TEST_CASE("drawn schedules of every kind keep the bits of sums that have one result in every order", "[sound]") {
  Met met;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    INFO("seed " << seed);
    const spec::System system = drawn_system(seed, Sums::exact);
    compare(system, drawn_inputs(system, seed), eager(), 3, true, met);
  }
  compiled::CompileOptions usual;
  usual.device = eager().device;
  for (const Directed& directed : directed_programs()) {
    if (directed.sums != Sums::exact) continue;
    INFO(directed.text);
    const spec::System system = spec::lower(spec::parse_program(directed.text));
    compare(system, whole_inputs(system, 1), usual, 2, true, met);
  }
  for (const char* kind : {"lift", "wide", "tile", "pack", "join", "pass", "recompute", "lanes"}) {
    INFO(kind);
    CHECK(met.kinds.count(kind) > 0);
  }
}

TEST_CASE("elements have the same bits without lanes where kernels were pinned for a memory budget", "[sound]") {
  std::size_t pinned = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const spec::System system = drawn_system(seed, Sums::rounded);
    compiled::CompileOptions options = eager();
    options.plan.memory_budget = lowered(system, options).plan.arena_bytes * 6 / 8;
    try {
      const compiled::Compilation fitted = lowered(system, options);
      pinned += static_cast<std::size_t>(std::count_if(fitted.plan.kernels.begin(), fitted.plan.kernels.end(), [](const compiled::Kernel& k) { return k.lanes.has_value(); }));
    } catch (const SpecViolation&) {
      continue;  // too few bytes for this one
    }
    INFO("seed " << seed);
    const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
    CHECK(same_bits(outputs_of(system, without(options, "lanes"), inputs), outputs_of(system, options, inputs)));
  }
  CHECK(pinned > 0);
}

}  // namespace etalon::test
