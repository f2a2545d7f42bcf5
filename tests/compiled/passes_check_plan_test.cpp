#include <catch2/catch.hpp>

#include "compiled/ir/plan.hpp"
#include "compiled/memory/check_plan.hpp"
#include "passes_build.hpp"
#include "passes_checked_plan.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::compiled::Home;
using etalon::compiled::Plan;
using etalon::compiled::PlanOptions;
using etalon::test::Build;
using etalon::test::checked_plan;
using etalon::test::exp_of;
using etalon::test::Indices;

namespace {

/// Three tensors that live at the same time, an update, and a kernel with a register.
struct Sound {
  Build b;
  TensorId x = b.input("x", DType::f32, {4, 4});
  TensorId p = b.input("p", DType::f32, {4, 4});
  TensorId t = b.local("t", DType::f32, {4, 4}, [&](const Indices& i) { return exp_of(b.at(x, {i[1], i[0]})); });
  TensorId u = b.local("u", DType::f32, {4, 4}, [&](const Indices& i) { return -b.at(t, {integer(3) - i[0], i[1]}); });
  TensorId r = b.local("r", DType::f32, {4, 4}, [&](const Indices& i) {
    return b.at(t, i) * b.at(u, {integer(3) - i[0], i[1]});
  });
  TensorId q = b.local("q", DType::f32, {4, 4}, [&](const Indices& i) { return b.at(r, i) + b.at(p, i) * b.at(r, i); });
  PlanOptions options;
  Plan plan;

  Sound() {
    b.system.outputs = {q};
    options.updates = {{1, 0}};
    plan = checked_plan(b.system, options);
  }
  compiled::Residence& residence(TensorId tensor) { return plan.residences[static_cast<std::size_t>(tensor)]; }
  void must_fail(const std::string& because) const {
    REQUIRE_THROWS_AS(compiled::check_plan(b.system, plan, options), InternalError);
    REQUIRE_THROWS_WITH(compiled::check_plan(b.system, plan, options), Catch::Contains(because));
  }
};

}  // namespace

TEST_CASE("the_checker_convicts_broken_plans", "[plan]") {
  Sound s;
  REQUIRE(s.plan.kernels.size() == 3);
  REQUIRE(s.residence(s.t).home == Home::arena);
  REQUIRE(s.residence(s.u).home == Home::arena);
  REQUIRE(s.residence(s.r).home == Home::in_register);
  REQUIRE(s.residence(s.q).home == Home::in_place);
  SECTION("two live tensors in the same bytes") {
    s.residence(s.u).offset = s.residence(s.t).offset;
    s.must_fail("u over t: read at another element");
  }
  SECTION("two live tensors that overlap in part") {
    s.options.alignment = 4;
    s.plan.arena_bytes += 64;
    s.residence(s.u).offset = s.residence(s.t).offset + 4;
    s.must_fail("u over t: not the same elements");
  }
  SECTION("bytes outside the arena") {
    s.plan.arena_bytes -= 1;
    s.must_fail("sticks out of the arena");
  }
  SECTION("too few bytes") {
    s.residence(s.t).bytes -= 4;
    s.must_fail("needs 64");
  }
  SECTION("kernels in the wrong order") {
    std::swap(s.plan.kernels[0], s.plan.kernels[1]);
    s.must_fail("before it is written");
  }
  SECTION("a kernel left out") {
    s.plan.kernels.erase(s.plan.kernels.begin());
    s.must_fail("before it is written");
  }
  SECTION("an equation run twice") {
    s.plan.kernels.push_back(s.plan.kernels[0]);
    s.must_fail("runs twice");
  }
  SECTION("a register read by another kernel") {
    s.residence(s.t).home = Home::in_register;
    s.must_fail("outside its registers");
  }
  SECTION("a statement fused across iterations") {
    auto& kernels = s.plan.kernels;
    kernels[0].statements.push_back(kernels[1].statements[0]);
    kernels.erase(kernels.begin() + 1);
    s.must_fail("of another iteration");
  }
  SECTION("an update that never arrives") {
    s.residence(s.q) = {Home::output, 0, 0, 0, 64, ""};
    s.must_fail("does not reach its input");
  }
  SECTION("an input overwritten that is no update") {
    s.residence(s.q).index = 0;
    s.must_fail("update q does not reach its input");
  }
  SECTION("an output in the bytes of a live input of another kernel") {
    s.residence(s.t) = {Home::in_place, 1, 0, 0, 64, ""};
    s.must_fail("p [0, 64) after it was overwritten");
  }
}

TEST_CASE("the_checker_convicts_bytes_given_away_within_a_kernel", "[plan]") {
  Build b;
  const TensorId p = b.input("p", DType::f32, {4, 2});
  PlanOptions options;
  SECTION("that an earlier statement reads in another iteration") {
    const TensorId t = b.local("t", DType::f32, {4, 2}, [&](const Indices& i) {
      return b.at(p, {integer(3) - i[0], i[1]});
    });
    const TensorId q = b.local("q", DType::f32, {4, 2}, [&](const Indices& i) { return b.at(t, i) + b.at(p, i); });
    b.system.outputs = {q};
    options.updates = {{0, 0}};
    Plan plan = checked_plan(b.system, options);
    REQUIRE(plan.kernels.size() == 1);
    REQUIRE(plan.commits.size() == 1);
    plan.commits.clear();
    plan.residences[static_cast<std::size_t>(q)] = {Home::in_place, 0, 0, 0, 32, ""};
    CHECK_THROWS_WITH(compiled::check_plan(b.system, plan, options), Catch::Contains("q over p: read in another"));
  }
  SECTION("that the same kernel has written") {
    const auto tripled = [&](const Indices& i) { return b.at(p, i) * decimal(3); };
    const TensorId t = b.local("t", DType::f32, {4, 2}, tripled);
    const TensorId y = b.local("y", DType::f32, {4, 2}, [&](const Indices& i) { return -b.at(t, i); });
    const TensorId z = b.local("z", DType::f32, {4, 2}, [&](const Indices& i) { return exp_of(b.at(y, i)); });
    b.system.outputs = {z};
    Plan plan = checked_plan(b.system, options);
    REQUIRE(plan.kernels.size() == 1);
    plan.arena_bytes = 64;
    plan.residences[static_cast<std::size_t>(t)] = {Home::arena, 0, 0, 0, 32, ""};
    plan.residences[static_cast<std::size_t>(y)] = {Home::arena, 0, 0, 0, 32, ""};
    CHECK_THROWS_WITH(compiled::check_plan(b.system, plan, options), Catch::Contains("both are written"));
  }
}
