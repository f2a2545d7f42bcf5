#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/compile.hpp"
#include "compiled/ir/plan.hpp"
#include "optimising.hpp"
#include "passes_build.hpp"
#include "passes_execution.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::compiled::CompileOptions;
using etalon::test::Build;
using etalon::test::Indices;

namespace {

/// `calls` times a small layer: a row sum, a quotient, a repeated constant product, a view.
System chained(int calls) {
  Build b;
  TensorId x = b.input("x", DType::f32, {2, 3});
  for (int n = 0; n < calls; ++n) {
    const std::string tag = std::to_string(n);
    const TensorId s = b.local("s" + tag, DType::f32, {2}, [&](const Indices& i) {
      return b.sum(3, [&](const Expr& k) { return b.at(x, {i[0], k}); });
    });
    const TensorId q = b.local("q" + tag, DType::f32, {2, 3}, [&](const Indices& i) {
      return b.at(x, i) / (b.at(s, {i[0]}) + decimal(2) * decimal(3));
    });
    const TensorId turned = b.local("v" + tag, DType::f32, {3, 2}, [&](const Indices& i) {
      return b.at(q, {i[1], i[0]});
    });
    x = b.local("y" + tag, DType::f32, {2, 3}, [&](const Indices& i) {
      return b.at(turned, {i[1], i[0]}) * decimal(1);
    });
  }
  b.system.outputs = {x};
  return b.system;
}

}  // namespace

TEST_CASE("an_unknown_pass_is_refused_with_the_nearest_name", "[passes]") {
  System system = chained(1);
  CompileOptions options;
  options.off = {"fold_constant"};
  CHECK_THROWS_WITH(test::optimise(system, options),
                    Catch::Contains("off: unknown stage 'fold_constant'; did you mean 'fold_constants'?"));
  options.off.clear();
  options.dump_after = {"inline"};
  CHECK_THROWS_WITH(test::optimise(system, options), Catch::Contains("dump-after: unknown stage 'inline'"));
}

TEST_CASE("a_required_pass_cannot_be_switched_off", "[passes]") {
  System system = chained(1);
  CompileOptions options;
  options.off = {"separate_outputs"};
  CHECK_THROWS_WITH(test::optimise(system, options), Catch::Contains("cannot be switched off"));
}

TEST_CASE("every_pass_can_be_dumped", "[passes]") {
  std::multiset<std::string> dumped;
  CompileOptions options;
  options.dump_after = {"all"};
  options.dump = [&](std::string_view pass, const std::string& text) {
    CHECK(!text.empty());
    dumped.emplace(pass);
  };
  System system = chained(2);
  test::optimise(system, options);
  std::multiset<std::string> expected;
  for (const compiled::Stage& stage : compiled::stages()) {
    if (test::is_optimising(stage)) expected.emplace(stage.name);
  }
  CHECK(dumped == expected);
}

TEST_CASE("a_pass_switched_off_does_not_run", "[passes]") {
  std::multiset<std::string> dumped;
  CompileOptions options;
  options.dump_after = {"all"};
  options.dump = [&](std::string_view pass, const std::string&) { dumped.emplace(pass); };
  options.off = {"fold_constants"};
  System system = chained(1);
  test::optimise(system, options);
  CHECK(dumped.count("fold_constants") == 0);
  CHECK(to_text(system).find("6") == std::string::npos);
  dumped.clear();
  options.off = {"all"};
  System untouched = chained(1);
  test::optimise(untouched, options);
  std::multiset<std::string> required;
  for (const compiled::Stage& stage : compiled::stages()) {
    if (stage.required && stage.leaves == compiled::Level::equations) required.emplace(stage.name);
  }
  CHECK(required.size() >= 3);
  CHECK(dumped == required);
  CHECK(untouched.equations.size() == 4);
}

TEST_CASE("every_pass_says_what_it_does", "[passes]") {
  REQUIRE(compiled::stages().size() >= 30);
  for (const compiled::Stage& stage : compiled::stages()) {
    CHECK(stage.what.size() > 10);
    for (const compiled::Choice& choice : stage.choices) CHECK(choice.what.size() > 10);
  }
}

TEST_CASE("the_same_system_gives_the_same_text", "[passes]") {
  const System original = chained(20);
  System first = original;
  System second = original;
  test::optimise(first);
  test::optimise(second);
  CHECK(to_text(first) == to_text(second));
  CHECK(compiled::to_text(first, compiled::plan(first)) == compiled::to_text(second, compiled::plan(second)));
}

namespace {

/// Work that does not depend on the machine: the nodes of all expressions after the pipeline, the kernels and the
/// statements, which bound what each pass walks through.
std::size_t result_size(const System& system) {
  std::size_t nodes = 0;
  for (const Equation& e : system.equations) for_each(e.value, [&](const Expr&) { ++nodes; });
  return nodes;
}

}  // namespace

TEST_CASE("the_result_grows_in_proportion_to_the_program", "[passes]") {
  std::size_t sizes[2] = {};
  for (const int n : {0, 1}) {
    System system = chained(n == 0 ? 500 : 2000);
    CompileOptions options;
    options.verify = false;
    test::optimise(system, options);
    sizes[n] = result_size(system);
    const compiled::Plan plan = compiled::plan(system);
    compiled::check_plan(system, plan);
    CHECK(plan.kernels.size() <= 2 * system.equations.size());
    CHECK(plan.arena_bytes <= 4096);
  }
  CHECK(sizes[1] <= sizes[0] * 4 + 100);
}
