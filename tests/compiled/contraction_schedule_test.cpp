// Schedules of contractions: they keep what a system means, and broken ones are refused, rule by rule.
#include <catch2/catch.hpp>

#include "compiled/ir/nest.hpp"
#include "compiled/lower/lower.hpp"
#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/homes.hpp"
#include "spec/error.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/passes_execution.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::Decision;
using compiled::Layout;
using compiled::Machine;
using compiled::loops::Contract;
using compiled::loops::Loop;
using compiled::loops::Nest;
using compiled::loops::Step;

namespace {

constexpr Machine machine{16, 32};

/// The loops of a system whose contractions are scheduled, packed factors first.
struct Lowered {
  System system;
  std::vector<Nest> nests;
};

Lowered lowered(const Product& p) {
  Lowered l{system_of(p), {}};
  const std::vector<Decision> decisions = scheduled(l.system, machine);
  const compiled::Plan plan = compiled::plan(l.system, {}, decisions);
  compiled::check_plan(l.system, plan);
  compiled::Deciding by_cost;
  l.nests = compiled::loops::lower(l.system, plan, machine, {}, by_cost);
  return l;
}

Contract* find_contract(std::vector<Step>& steps) {
  for (Step& s : steps) {
    if (auto* c = std::get_if<Contract>(&s.is)) return c;
    if (auto* loop = std::get_if<Loop>(&s.is)) {
      if (Contract* c = find_contract(loop->steps)) return c;
    }
  }
  return nullptr;
}

/// A contraction whose left factor is copied in rows and its right one into panels.
Product packed() { return {DType::f32, {}, 64, 1024, 512, false, true, false}; }
/// One that reads both as they lie.
Product in_place() { return {DType::f32, {}, 64, 40, 64, false, false, false}; }

template <class Break>
void check_refused(const Product& p, const char* rule, Break break_it) {
  Lowered l = lowered(p);
  Contract* c = find_contract(l.nests.back().steps);
  REQUIRE(c != nullptr);
  compiled::loops::verify(l.system, l.nests.back());
  break_it(*c, l);
  INFO(rule);
  CHECK_THROWS_WITH(compiled::loops::verify(l.system, l.nests.back()), Contains(rule));
}

}  // namespace

TEST_CASE("packing keeps what a system means, bit by bit", "[compiled][contractions]") {
  std::mt19937 engine(3);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Product& p : {Product{dtype, {}, 9, 40, 30, true, true, false}, Product{dtype, {2}, 15, 33, 20, false, true, true},
                             Product{dtype, {}, 20, 1024, 140, false, false, false}}) {
      const System before = system_of(p);
      System after = before;
      const auto decisions = scheduled(after, machine, {.always = true});
      REQUIRE(after.equations.size() > before.equations.size());
      REQUIRE(decisions.size() == after.equations.size());
      spec::verify(after);
      const std::vector<HostTensor> in{normal_numbers(dtype, dims_a(p), 5), normal_numbers(dtype, dims_b(p), 6)};
      CHECK(same_bits(execute(before, in), execute(after, in)));
    }
  }
}

TEST_CASE("a decision says how and why", "[compiled][contractions]") {
  const auto decision = [](const Product& p) {
    System s = system_of(p);
    return scheduled(s, machine).back();
  };
  const Decision one = decision(packed());
  REQUIRE(one.schedule);
  CHECK(one.schedule->tile_rows == 13);
  CHECK(one.schedule->tile_columns == 32);
  CHECK(one.schedule->left.layout == Layout::rows);
  CHECK(one.schedule->right.layout == Layout::panels);
  CHECK(one.schedule->right.reason == "its columns do not lie side by side");
  const Decision other = decision(in_place());
  REQUIRE(other.schedule);
  CHECK(other.schedule->left.layout == Layout::in_place);
  CHECK(other.schedule->right.layout == Layout::in_place);
  CHECK(other.schedule->side_by_side == 1);
  const Decision few_rows = decision({DType::f32, {}, 4, 960, 16, false, false, false});
  REQUIRE(few_rows.schedule);
  CHECK(few_rows.schedule->side_by_side == 3);
  CHECK_THAT(to_text(*few_rows.schedule), Contains("in blocks of 64, 3 of them side by side"));
  CHECK(decision({DType::f32, {}, 4, 970, 16, false, false, false}).schedule->side_by_side == 1);
  const Decision small = decision({DType::f32, {}, 8, 8, 8, false, false, false});
  CHECK_FALSE(small.schedule);
  CHECK_THAT(small.reason, Contains("only 512 products"));
  System s = system_of(in_place());
  CHECK_THAT(scheduled(s, {}).back().reason, Contains("the machine has no vectors"));
}

TEST_CASE("a transposed factor changes places in squares", "[compiled][contractions]") {
  const Lowered l = lowered({DType::f32, {}, 64, 70, 75, false, true, false});
  CHECK_THAT(to_text(l.system, l.nests.front()), Contains("for squares of 16 by 16"));
}

TEST_CASE("a broken schedule is refused", "[compiled][contractions]") {
  check_refused(in_place(), "a tile has rows and vectors", [](Contract& c, Lowered&) { c.schedule.lanes = 1; });
  check_refused(in_place(), "a tile has rows and vectors", [](Contract& c, Lowered&) { c.schedule.tile_rows = 0; });
  check_refused(in_place(), "whole vectors", [](Contract& c, Lowered&) { c.schedule.tile_columns = 24; });
  check_refused(in_place(), "as the contract declares", [](Contract& c, Lowered&) { c.schedule.depth.turns = 128; });
  check_refused(packed(), "as the contract declares", [](Contract& c, Lowered&) { c.schedule.depth.turns = 32; });
  check_refused(in_place(), "a turn has steps", [](Contract& c, Lowered&) { c.schedule.unroll = 0; });
  check_refused(packed(), "are whole, and as many each time", [](Contract& c, Lowered&) { c.schedule.side_by_side = 7; });
  check_refused(in_place(), "side by side have steps in loops", [](Contract& c, Lowered&) { c.schedule.side_by_side = 0; });
  check_refused(in_place(), "share loads are written out", [](Contract& c, Lowered&) { c.schedule.shared_taps = 3; });
  check_refused(in_place(), "a block has tiles", [](Contract& c, Lowered&) { c.schedule.block_columns = 0; });
  check_refused(in_place(), "blocks follow each other", [](Contract& c, Lowered&) { c.schedule.block_rows += 1; });
  check_refused(in_place(), "blocks cover every tile", [](Contract& c, Lowered&) { c.schedule.block_columns = 1; });
  check_refused(in_place(), "blocks cover every tile", [](Contract& c, Lowered&) { c.row.extent += 14; });
  check_refused(in_place(), "steps of an element are no loops", [](Contract& c, Lowered&) { c.steps.push_back({Loop{}}); });
  check_refused(in_place(), "factors are reads", [](Contract& c, Lowered&) { c.left = c.left + c.left; });
  check_refused(in_place(), "does not know the column", [](Contract& c, Lowered&) { std::swap(c.row, c.column); });
  check_refused(in_place(), "is a slice", [](Contract& c, Lowered&) { c.ahead.push_back({spec::integer(0), 64, spec::integer(0), 1}); });
  check_refused(in_place(), "one of the first axis", [](Contract& c, Lowered&) { c.ahead.push_back({c.left, 64, spec::integer(0), 1}); });
  check_refused(in_place(), "shared among blocks", [](Contract& c, Lowered&) { c.ahead.push_back({c.left, 40 * 4, spec::integer(0), 0}); });
  check_refused(in_place(), "columns lie side by side", [](Contract& c, Lowered&) {
    std::swap(c.row, c.column);
    std::swap(c.left, c.right);
    std::swap(c.first_row, c.first_column);
    std::swap(c.schedule.block_rows, c.schedule.block_columns);
    c.schedule.tile_rows = 16;
    c.schedule.tile_columns = 16;
    c.first_row = spec::integer(0);
    c.first_column = spec::integer(0);
    c.schedule.block_rows = c.schedule.block_columns = 4;
  });
  check_refused(in_place(), "lies in panels where it is packed so", [](Contract& c, Lowered&) { c.schedule.left.layout = Layout::panels; });
  check_refused(packed(), "a panel is as wide as a tile", [](Contract& c, Lowered&) {
    c.schedule.tile_columns = 64;
    c.schedule.block_columns = 8;
    c.first_column = spec::integer(0);
  });
  check_refused(in_place(), "at a fixed distance", [](Contract& c, Lowered& l) {
    c.left = l.system.at(c.left->tensor, {c.left->args[0], c.left->args[1] * c.left->args[1]});
  });
  check_refused(in_place(), "at fixed distances", [](Contract& c, Lowered& l) {
    c.left = l.system.at(c.left->tensor, {apply(Primitive::modulo, {c.left->args[0], spec::integer(7)}), c.left->args[1]});
  });
  check_refused(in_place(), "is written once", [](Contract& c, Lowered&) { c.target = c.row.variable; });
  check_refused(in_place(), "a guard lies in panels", [](Contract& c, Lowered&) { c.guard = c.right; });
  check_refused(packed(), "a guard is a read", [](Contract& c, Lowered&) { c.guard = c.right + c.right; });
  check_refused(packed(), "the guard does not know the row", [](Contract& c, Lowered&) { c.guard = c.left; });
  check_refused(in_place(), "used where it has no value", [](Contract& c, Lowered&) { c.target = -7; });
}

TEST_CASE("squares are checked", "[compiled][contractions]") {
  Lowered l = lowered({DType::f32, {}, 64, 70, 75, false, true, false});
  auto& loop = std::get<Loop>(l.nests.front().steps.back().is);
  auto& t = std::get<compiled::loops::Transpose>(loop.steps.back().is);
  compiled::loops::verify(l.system, l.nests.front());
  SECTION("whole") {
    t.width = 12;
    CHECK_THROWS_WITH(compiled::loops::verify(l.system, l.nests.front()), Contains("squares are whole"));
  }
  SECTION("plain") {
    t.store.add = true;
    CHECK_THROWS_WITH(compiled::loops::verify(l.system, l.nests.front()), Contains("a store of squares is a plain one"));
  }
  SECTION("bound once") {
    t.across = t.down;
    CHECK_THROWS_WITH(compiled::loops::verify(l.system, l.nests.front()), Contains("is bound once"));
  }
}
