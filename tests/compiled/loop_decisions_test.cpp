// Which loops run in lanes and which results go past the caches are decisions: written out, read back, followed, and refused where
// they cannot be. None of them changes a bit, since the lanes of sums are not among them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/decision_list.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/schedule/neighbours.hpp"
#include "passes_build.hpp"
#include "spec/error.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Contains;
using compiled::Compilation;
using compiled::CompileOptions;
using compiled::DecisionLine;
using compiled::Machine;
using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Reduce;
using compiled::loops::Step;
using compiled::loops::Store;
using spec::Reduction;

namespace {

constexpr Machine machine{16, 32};

/// y = exp(x) element by element and alone, s the sums of the rows of x, and their mean, which reads them.
System rows_and_elements() {
  Build b;
  const TensorId x = b.input("x", DType::f32, {24, 64});
  const TensorId v = b.input("v", DType::f32, {40, 32});
  const TensorId y = b.local("y", DType::f32, {40, 32}, [&](const Indices& i) { return exp_of(b.at(v, i)); });
  const TensorId s = b.local("s", DType::f32, {24}, [&](const Indices& i) { return b.sum(64, [&](const Expr& k) { return b.at(x, {i[0], k}); }); });
  const TensorId m = b.local("m", DType::f32, {}, [&](const Indices&) { return b.sum(24, [&](const Expr& k) { return b.at(s, {k}); }); });
  b.system.outputs = {y, s, m};
  return b.system;
}

CompileOptions with(const std::string& schedule, CompileOptions options = {}) {
  options.decisions = compiled::decisions_in(schedule, "s");
  return options;
}

Compilation lowered(const System& system, const CompileOptions& options, const Machine& on = machine) {
  return compiled::lower_to_loops(system, {}, options, on);
}

/// What the loops of a kernel are.
struct Seen {
  std::vector<std::pair<std::int64_t, unsigned>> loops;  ///< extents and lanes, in the order of the text, but those of reductions
  std::vector<unsigned> chains;
  std::vector<bool> streamed;  ///< one per store
};

void look(const std::vector<Step>& steps, Seen& seen) {
  for (const Step& s : steps) {
    if (const auto* loop = std::get_if<Loop>(&s.is)) {
      seen.loops.emplace_back(loop->binder.extent, loop->width);
      look(loop->steps, seen);
    }
    if (const auto* r = std::get_if<Reduce>(&s.is)) seen.chains.push_back(r->tree.chains);
    if (const auto* store = std::get_if<Store>(&s.is)) seen.streamed.push_back(store->streamed);
  }
}

Seen kernel_of(const Compilation& c, const std::string& name) {
  Seen seen;
  const auto nest = std::find_if(c.nests.begin(), c.nests.end(), [&](const Nest& n) { return n.name == name; });
  REQUIRE(nest != c.nests.end());
  look(nest->steps, seen);
  return seen;
}

std::string loops_of(const Compilation& c) {
  std::string text;
  for (const Nest& nest : c.nests) text += to_text(c.system, nest);
  return text;
}

std::string decisions_of(const Compilation& c) { return compiled::to_text(c.deciding.taken()); }

using Loops = std::vector<std::pair<std::int64_t, unsigned>>;

}  // namespace

TEST_CASE("lanes_and_streams_are_written_out_and_read_back", "[compiled][schedules]") {
  for (const Machine& on : {Machine{8, 16}, Machine{16, 32}}) {
    const Compilation first = lowered(rows_and_elements(), {}, on);
    const std::string lines = decisions_of(first);
    CHECK_THAT(lines, Contains("lanes y loop=1 width=" + std::to_string(on.lanes_f32) + "\n"));
    CHECK_THAT(lines, Contains("stream y off\n"));
    const Compilation again = lowered(rows_and_elements(), with(lines), on);
    CHECK(loops_of(again) == loops_of(first));
    CHECK(decisions_of(again) == lines);
  }
}

TEST_CASE("given_lanes_are_those_of_the_loop", "[compiled][schedules]") {
  CHECK(kernel_of(lowered(rows_and_elements(), {}), "y").loops == Loops{{40, 1U}, {32, 16U}});
  const std::map<std::string, Loops> wanted{
      {"lanes y loop=0 width=8", {{32, 1U}, {40, 8U}}},
      {"lanes y loop=0 width=64", {{32, 1U}, {40, 64U}}},
      {"lanes y loop=1 width=2", {{40, 1U}, {32, 2U}}},
      {"lanes y off", {{40, 1U}, {32, 1U}}},
  };
  for (const auto& [line, loops] : wanted) {
    INFO(line);
    const Compilation made = lowered(rows_and_elements(), with(line));
    CHECK(kernel_of(made, "y").loops == loops);
    CHECK_THAT(decisions_of(made), Contains(line + "\n"));
  }
}

TEST_CASE("given_streams_are_those_of_the_stores", "[compiled][schedules]") {
  CHECK(kernel_of(lowered(rows_and_elements(), {}), "y").streamed == std::vector<bool>{false});
  CHECK(kernel_of(lowered(rows_and_elements(), with("stream y on")), "y").streamed == std::vector<bool>{true});
  // Where costs stream: a result of cheap arithmetic, much larger than the cache.
  Build b;
  const TensorId x = b.input("x", DType::f32, {64, 64});
  b.system.outputs = {b.local("y", DType::f32, {64, 64}, [&](const Indices& i) { return b.at(x, i) * b.at(x, i); })};
  CompileOptions small;
  small.schedule.last_cache_bytes = 1 << 10;
  CHECK(kernel_of(lowered(b.system, small), "y").streamed == std::vector<bool>{true});
  CHECK(kernel_of(lowered(b.system, with("stream y off", small)), "y").streamed == std::vector<bool>{false});
}

TEST_CASE("the_lanes_of_sums_are_no_decision", "[compiled][schedules]") {
  const Compilation usual = lowered(rows_and_elements(), {});
  const std::vector<unsigned> chains = kernel_of(usual, "s").chains;
  REQUIRE(chains == std::vector<unsigned>{64});
  CHECK_THAT(decisions_of(usual), !Contains("lanes s ") && !Contains("lanes m "));
  CompileOptions off;
  off.off = {"lanes"};
  const Compilation without = lowered(rows_and_elements(), off);
  CHECK(kernel_of(without, "s").chains == chains);
  CHECK(kernel_of(without, "y").loops == Loops{{40, 1U}, {32, 1U}});
  CHECK_THAT(decisions_of(without), Contains("lanes y off\n"));
}

TEST_CASE("lanes_and_streams_that_cannot_be_are_refused_with_their_line", "[compiled][schedules]") {
  const auto refused = [](const std::string& line, const std::string& why) {
    INFO(line);
    REQUIRE_THROWS_AS(lowered(rows_and_elements(), with("\n" + line)), SpecViolation);
    REQUIRE_THROWS_WITH(lowered(rows_and_elements(), with("\n" + line)), Contains("s:2: ") && Contains(why));
  };
  refused("lanes s loop=0 width=16", "lanes s: there is nothing of this kind to decide here; did you mean 'y'?");
  refused("lanes y loop=2 width=16", "loop is from 0 to 1, found '2'");
  refused("lanes y loop=1 width=12", "width is a power of two, found '12'");
  refused("lanes y loop=1 width=128", "width is from 2 to 64, found '128'");
  refused("lanes y loop=1 width=1", "width is from 2 to 64, found '1'");
  refused("lanes y loop=1", "only 1 of 2 parameters");
  refused("lanes y on", "expected loop=… width=…, or off");
  refused("stream y maybe", "expected on or off, found maybe");
  refused("stream s on", "stream s: there is nothing of this kind to decide here");  // it is read
  REQUIRE_THROWS_WITH(lowered(rows_and_elements(), with("lanes y off\nstream y on")), Contains("s:2: stream y: there is nothing of this kind"));  // no vectors
  Build b;
  const TensorId x = b.input("x", DType::f32, {8, 33});
  b.system.outputs = {b.local("y", DType::f32, {8, 33}, [&](const Indices& i) { return b.at(x, i) * b.at(x, i); })};
  REQUIRE_THROWS_WITH(lowered(b.system, with("stream y on")), Contains("nothing of this kind"));  // rows are not whole lines
}

TEST_CASE("other_lanes_and_streams_have_the_same_bits", "[compiled][schedules]") {
  const Machine here = shared_processor()->machine();
  if (here.lanes_f32 < 4) return;
  const System system = rows_and_elements();
  HostTensor x(DType::f32, {24, 64}), v(DType::f32, {40, 32});
  std::mt19937 random(1);
  for (HostTensor* t : {&x, &v}) {
    for (float& value : t->view<float>()) value = std::normal_distribution<float>()(random);
  }
  const std::vector<HostTensor> in{x, v};
  CompileOptions here_options = options();
  const compiled::Executable first = compiled::compile_system(system, here_options);
  const std::vector<HostTensor> expected = first.run(in);
  const std::vector<DecisionLine> lines = first.report().decisions;
  std::set<std::string> ran;
  for (const DecisionLine& line : lines) {
    if (line.kind != "lanes" && line.kind != "stream") continue;
    for (const DecisionLine& next : compiled::neighbours(line, here, lines, false)) {
      INFO(to_text(next));
      here_options.decisions = {next};
      std::vector<HostTensor> found;
      try {
        found = compiled::compile_system(system, here_options).run(in);
      } catch (const SpecViolation&) {
        continue;  // a loop that is not there
      }
      CHECK(found == expected);
      ran.insert(to_text(next));
    }
  }
  CHECK(ran.contains("lanes y off"));
  CHECK(ran.contains("stream y on"));
  CHECK(ran.contains("lanes y loop=0 width=" + std::to_string(here.lanes_f32)));
}
