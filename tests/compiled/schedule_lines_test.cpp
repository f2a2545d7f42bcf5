// What was decided is written out, read back and followed; what cannot be is refused by one line, and never runs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/decision_list.hpp"
#include "compiled/memory/check_plan.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/schedule/neighbours.hpp"
#include "passes_build.hpp"
#include "spec/error.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::spec;
using Catch::Contains;
using compiled::Compilation;
using compiled::CompileOptions;
using compiled::DecisionLine;
using compiled::Level;
using compiled::Machine;

namespace {

constexpr Machine machine{16, 32};

struct Made {
  std::string loops;
  std::string decisions;
};

std::string loops_of(const Compilation& c) {
  std::string text = to_text(c.system, c.plan);
  for (const compiled::loops::Nest& nest : c.nests) text += to_text(c.system, nest);
  return text;
}

Made made_of(const System& system, const std::string& schedule = {}, const Machine& on = machine) {
  CompileOptions options;
  options.decisions = compiled::decisions_in(schedule, "s");
  const Compilation c = compiled::lower_to_loops(system, {}, options, on);
  return {loops_of(c), compiled::to_text(c.deciding.taken())};
}

/// y = a·b in tiles, then z = relu(y) along with it, and the sums of its rows in a kernel of their own.
System product() {
  System s = test::system_of(test::Product{DType::f32, {}, 60, 128, 96, false, false, false});
  const TensorId y = s.find("y");
  const TensorId z = s.add_tensor("z", DType::f32, {60, 96});
  const std::vector<Binder> zs = s.bind_all(z);
  s.define(z, zs, s.at(y, variables(zs)) * s.at(y, variables(zs)));
  const TensorId r = s.add_tensor("r", DType::f32, {60});
  const std::vector<Binder> rs = s.bind_all(r);
  const Binder k = s.bind("k", 96);
  s.define(r, rs, reduce(Reduction::sum, {k}, boolean(true), s.at(z, {variable(rs[0]), variable(k)})));
  const TensorId q = s.add_tensor("q", DType::f32, {60});
  const std::vector<Binder> qs = s.bind_all(q);
  s.define(q, qs, apply(Primitive::exp, {s.at(r, variables(qs))}));
  s.outputs = {z, r, q};
  return s;
}

/// The same schedule with one line in place of that about the same.
std::string with_line(const std::string& schedule, const std::string& line) {
  return compiled::to_text(compiled::with_decision(compiled::decisions_in(schedule, "s"), compiled::decisions_in(line, "s").front()));
}

void refused(const std::string& line, const std::string& why) {
  INFO(line);
  REQUIRE_THROWS_AS(made_of(product(), "# a comment\n\n" + line), SpecViolation);
  REQUIRE_THROWS_WITH(made_of(product(), "# a comment\n\n" + line), Contains("s:3: ") && Contains(why));
}

}  // namespace

TEST_CASE("lines_of_decisions_are_read_as_they_are_written", "[compiled][schedules]") {
  const std::string text = "tile y rows=14 columns=32\njoin z with=y loops=2\njoin q off\npiece y.columns on\n";
  CHECK(compiled::to_text(compiled::decisions_in(text, "s")) == text);
  CHECK(compiled::to_text(compiled::decisions_in("# c\n\ntile  y\tcolumns=32 rows=14 # why\n", "s")) == "tile y rows=14 columns=32\n");
  const auto why = [](const std::string& line, const std::string& says) {
    INFO(line);
    REQUIRE_THROWS_WITH(compiled::decisions_in("\n" + line, "f.schedule"), Contains("f.schedule:2: ") && Contains(says));
  };
  why("tiel y rows=1 columns=1", "unknown decision 'tiel'; did you mean 'tile'?");
  why("tile", "expected the name of a value, found nothing");
  why("tile y rows=14", "tile y: expected rows=… columns=…, or off, found only 1 of 2 parameters");
  why("tile y rows=14 columns=32 depth=3", "found depth");
  why("tile y rows=14 rows=14 columns=32", "found rows");
  why("strip y off", "expected rows=… tile_rows=…, found off");
  why("piece y maybe", "expected on or off, found maybe");
  REQUIRE_THROWS_WITH(compiled::decisions_in("piece y on\npiece y off", "f"), "f:2: piece y: it was decided before, at f:1");
}

TEST_CASE("a_schedule_that_was_written_out_makes_the_same_loops", "[compiled][schedules]") {
  for (const Machine& on : {Machine{8, 16}, Machine{16, 32}}) {
    const Made first = made_of(product(), {}, on);
    REQUIRE_THAT(first.decisions, Contains("tile y ") && Contains("join z with=y loops=2") && Contains("join r off"));
    const Made again = made_of(product(), first.decisions, on);
    CHECK(again.loops == first.loops);
    CHECK(again.decisions == first.decisions);
  }
}

TEST_CASE("each_line_may_be_left_out_and_costs_decide_the_same_again", "[compiled][schedules]") {
  const Made first = made_of(product());
  const std::vector<DecisionLine> lines = compiled::decisions_in(first.decisions, "s");
  REQUIRE(lines.size() >= 6);
  for (std::size_t out = 0; out < lines.size(); ++out) {
    std::vector<DecisionLine> others = lines;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
    INFO("without " << to_text(lines[out]));
    CHECK(made_of(product(), compiled::to_text(others)).loops == first.loops);
  }
}

TEST_CASE("what_is_given_is_done", "[compiled][schedules]") {
  const Made first = made_of(product());
  const std::vector<std::pair<std::string, std::string>> changes{
      {"tile y rows=6 columns=64", "tiles of 6 by 64"},         {"tile y off", "a contraction in plain loops: as given"},
      {"pack y left=in_place right=panels", "right packed in panels (as given)"}, {"block y rows=2 columns=1 outside=columns ahead=off", "blocks of 2 by 1 tiles, columns outside"},
      {"steps y unroll=3 side_by_side=1 shared=1", "depth by 3"},
  };
  for (const auto& [line, says] : changes) {
    INFO(line);
    const Made made = made_of(product(), line);
    CHECK_THAT(made.loops, Contains(says));
    CHECK_THAT(made.decisions, Contains(line + "\n"));
    CHECK_THAT(first.loops, !Contains(says));
  }
  CHECK_THAT(made_of(product(), "join z off").decisions, Contains("join z off\n"));
  CHECK_THAT(made_of(product(), "join q off").decisions, Contains("join q off\n"));
}

TEST_CASE("what_cannot_be_is_refused_with_its_line", "[compiled][schedules]") {
  refused("tile x rows=1 columns=16", "tile x: there is nothing of this kind to decide here; did you mean 'y'?");
  refused("tile y rows=14 columns=48", "the tile takes 47 registers, and there are 32");
  refused("tile y rows=14 columns=20", "columns are whole vectors of 16, found 20");
  refused("tile y rows=0 columns=16", "rows is from 1 to 60, found '0'");
  refused("tile y rows=61 columns=16", "rows is from 1 to 60, found '61'");
  refused("tile y rows=many columns=16", "rows is from 1 to 60, found 'many'");
  refused("pack y left=in_place right=rows", "the right factor may be in_place or panels, found 'rows'");
  refused("block y rows=9 columns=1 outside=rows ahead=off", "rows is from 1 to 5, found '9'");
  refused("block y rows=1 columns=1 outside=rows ahead=on", "only panels along one loop are fetched ahead");
  refused("block y rows=1 columns=1 outside=sideways ahead=off", "cannot be here");
  refused("steps y unroll=4 side_by_side=2 shared=1", "side_by_side is from 1 to 1, found '2'");
  refused("steps y unroll=0 side_by_side=1 shared=1", "unroll is from 1 to 64, found '0'");
  refused("steps y unroll=1 side_by_side=1 shared=2", "shared is from 1 to 1, found '2'");
  refused("join r with=y loops=1", "beside a contraction stands only what is done with its elements one by one");
  refused("join z with=r loops=1", "no kernel before it computes 'r'");
  refused("join q with=y loops=1", "it reads what a kernel behind that of y computes");
  refused("join q with=nobody loops=1", "no kernel before it computes 'nobody'");
  refused("join z with=y loops=1", "beside a contraction");
  refused("join y off", "there is nothing of this kind to decide here");
  refused("wide y on", "there is nothing of this kind to decide here");
}

TEST_CASE("wrong_schedules_made_by_hand_are_refused_by_those_who_judge", "[compiled][schedules]") {
  const auto planned = [] {
    CompileOptions options;
    options.verify = true;
    Compilation c = compiled::begin(product(), options, machine);
    compiled::run(c, Level::plan);
    REQUIRE(c.plan.kernels.front().schedule);
    return c;
  };
  const std::vector<std::pair<std::string, std::function<void(compiled::Schedule&)>>> wrong{
      {"a tile's columns are whole vectors", [](auto& s) { s.tile_columns = 20; }},
      {"a turn has steps", [](auto& s) { s.unroll = 0; }},
      {"terms are added in sequence", [](auto& s) { s.depth.turns = 128; }},
      {"blocks side by side", [](auto& s) { s.side_by_side = 3; }},
      {"steps that share loads", [](auto& s) { s.shared_taps = 2; }},
      {"a factor lies in panels where it is packed so", [](auto& s) { s.right.layout = compiled::Layout::panels; }},
  };
  {
    Compilation sound = planned();
    compiled::run(sound, Level::loops);
  }
  for (const auto& breaks : {+[](compiled::Schedule& s) { s.tile_rows = 0; }, +[](compiled::Schedule& s) { s.block_columns = 0; }}) {
    Compilation c = planned();
    compiled::check_plan(c.system, c.plan, c.options.plan);
    breaks(*c.plan.kernels.front().schedule);
    REQUIRE_THROWS_WITH(compiled::check_plan(c.system, c.plan, c.options.plan), Contains("tiles and blocks have rows and columns"));
  }
  for (const auto& [why, breaks] : wrong) {
    INFO(why);
    Compilation c = planned();
    breaks(*c.plan.kernels.front().schedule);
    REQUIRE_THROWS_WITH(compiled::run(c, Level::loops), Contains("loops: kernel z: " + why));
  }
}

TEST_CASE("what_a_search_tries_is_another_decision_about_the_same_or_is_refused", "[compiled][schedules]") {
  const Made first = made_of(product());
  const std::vector<DecisionLine> lines = compiled::decisions_in(first.decisions, "s");
  std::size_t followed = 0;
  std::size_t refusals = 0;
  std::set<std::string> kinds;
  for (const DecisionLine& line : lines) {
    CHECK((line.kind != "join" || compiled::neighbours(line, machine, lines, false).empty()));
    for (const DecisionLine& next : compiled::neighbours(line, machine, lines, true)) {
      INFO(to_text(next));
      CHECK(next.kind == line.kind);
      CHECK(next.value == line.value);
      CHECK_FALSE(next.words == line.words);
      std::string decisions;
      try {
        decisions = made_of(product(), to_text(next)).decisions;
      } catch (const SpecViolation&) {
        ++refusals;
        continue;
      }
      ++followed;
      kinds.insert(next.kind);
      CHECK_THAT(decisions, Contains(to_text(next) + "\n"));
    }
  }
  CHECK(followed > 30);
  CHECK(refusals > 5);
  CHECK(kinds.contains("tile"));
  CHECK(kinds.contains("join"));
  CHECK(with_line("tile y rows=2 columns=16\nblock y rows=1 columns=1 outside=rows ahead=off\npiece p on\n", "tile y rows=3 columns=16") ==
        "piece p on\ntile y rows=3 columns=16\n");
}

TEST_CASE("other_tiles_and_blocks_have_the_same_bits", "[compiled][schedules]") {
  const Machine here = test::shared_processor()->machine();
  if (here.lanes_f32 < 4) return;
  for (const test::Product& p : {test::Product{DType::f32, {}, 29, 150, 71, false, false, false}, test::Product{DType::f32, {3}, 9, 128, 40, true, true, true},
                                 test::Product{DType::f64, {}, 4, 640, 16, false, false, false}}) {
    const System system = test::system_of(p);
    const std::vector<HostTensor> in{test::normal_numbers(p.dtype, test::dims_a(p), 1), test::normal_numbers(p.dtype, test::dims_b(p), 2)};
    CompileOptions options;
    options.device = test::shared_processor();
    const compiled::Executable first = compiled::compile_system(system, options);
    const std::vector<HostTensor> expected = first.run(in);
    const std::vector<DecisionLine> lines = first.report().decisions;
    REQUIRE(lines.size() >= 4);
    std::size_t ran = 0;
    for (const DecisionLine& line : lines) {
      for (const DecisionLine& next : compiled::neighbours(line, here, lines, false)) {
        INFO(test::text_of(p) << ": " << to_text(next));
        std::optional<compiled::Executable> other;
        options.decisions = {next};
        try {
          other = compiled::compile_system(system, options);
        } catch (const SpecViolation&) {
          continue;
        }
        ++ran;
        CHECK(other->run(in) == expected);
      }
    }
    CHECK(ran >= 10);
  }
}
