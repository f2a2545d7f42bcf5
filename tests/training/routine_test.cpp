#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "cuda/emulator/emulator.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "training/routine.hpp"
#include "training/routine_cache.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

HostTensor floats(const Dims& dims, const std::vector<float>& values) { return HostTensor::of<float>(dims, values); }

/// total += x·(10·i + j), i and j indices.
const char* const counting = R"(input x : f32[]
index i : i64[] in 0..1
index j : i64[] in 3..5
parameter total : i64[]
ten = mul(i, c10)
n = add(ten, j)
total1 = add(total, n)
y = sqrt(x)
output y, n
update total := total1
)";

spec::Program counting_program() {
  std::string text = counting;
  return spec::parse_program("constant c10 : i64[] = 10\n" + text);
}

std::vector<std::pair<std::int64_t, std::int64_t>> visited(Routine& routine, const std::map<std::string, Order>& orders) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  (void)routine.iterate([&](const auto& at, const Outcome&) { all.emplace_back(at.at("i"), at.at("j")); return true; }, orders,
                        {{"x", floats({}, {4})}});
  return all;
}

}  // namespace

TEST_CASE("routines_over_one_store_see_what_each_other_writes", "[routine]") {
  const auto reference = reference::make_reference_backend();
  const spec::Program step = spec::parse_program("input x : f32[3]\nparameter w : f32[3]\nw1 = add(w, x)\noutput w1\nupdate w := w1\n");
  const spec::Program look = spec::parse_program("input k : f32[2, 3]\nparameter w : f32[3]\ny = mul(k, w)\noutput y\n");
  const Target device = Target::on(std::make_shared<cuda::emulator::Emulator>());
  CHECK(device.name() == "cuda-emulated");
  CHECK(Target::cpu().name() == "cpu");
  for (const Target& target : {Target::cpu(), Target::backend(*reference), device}) {
    compiled::Store store;
    const Routine stepping(step, target, store);
    const Routine looking(look, target, store);
    CHECK_THROWS_WITH(stepping.run({{"x", floats({3}, {1, 2, 3})}}), "run: `w` has no value yet");
    store.write("w", floats({3}, {1, 1, 1}));
    CHECK(stepping.run({{"x", floats({3}, {1, 2, 3})}}).output("w1") == floats({3}, {2, 3, 4}));
    CHECK(looking.run({{"k", floats({2, 3}, {1, 1, 1, 2, 2, 2})}}).output("y") == floats({2, 3}, {2, 3, 4, 4, 6, 8}));
    CHECK(store.names() == std::vector<std::string>{"w"});
    CHECK_THROWS_WITH(looking.run({{"q", floats({3}, {})}}), "run: the program has no input `q`");
    CHECK_THROWS_WITH(looking.run(), "run: input `k` is missing");
    CHECK_THROWS_WITH(looking.run({{"k", floats({3}, {1, 2, 3})}}), "run: input `k` is f32[2, 3], got f32[3]");
    CHECK_THROWS_WITH(looking.run({{"w", floats({3}, {1, 2, 3})}}), "run: `w` is a parameter and is not given at a run");
    CHECK(run_once(look, target, store, {{"k", floats({2, 3}, {0, 0, 0, 1, 1, 1})}}).output("y") == floats({2, 3}, {0, 0, 0, 2, 3, 4}));
  }
}

TEST_CASE("an_outcome_says_completed_or_why_not", "[routine]") {
  const auto reference = reference::make_reference_backend();
  for (const Target& target : {Target::cpu(), Target::backend(*reference)}) {
    compiled::Store store;
    store.put("total", HostTensor::of<std::int64_t>({}, {0}));
    Routine routine(counting_program(), target, store);
    routine.watch("y").bind("i", 1);
    routine.bind("j", 4);
    const Outcome good = routine.run({{"x", floats({}, {9})}});
    CHECK(good.completed());
    CHECK(good.number("y") == 3);
    CHECK(good.number("n") == 14);
    const Outcome bad = routine.run({{"x", floats({}, {-1})}});
    CHECK(name_of(bad.status) == "not_finite");
    CHECK(bad.why == "`y` is nan");
    CHECK_THROWS_WITH(good.output("z"), Catch::StartsWith("unknown output 'z'"));
    CHECK_THROWS_WITH(routine.watch("yy"), "unknown output or capture 'yy'; did you mean 'y'?");
    CHECK_THROWS_WITH(routine.bind("i", 2), "run: index `i` is 2, its range is 0..1");
    CHECK_THROWS_WITH(routine.bind("k", 2), Catch::StartsWith("unknown index 'k'"));
  }
}

TEST_CASE("a_backend_without_numbers_is_an_outcome_and_changes_nothing", "[routine]") {
  class Refusing final : public spec::Backend {
   public:
    [[nodiscard]] spec::Description describe() const override { return {"refusing", "1", {}, {}, {}}; }
    [[nodiscard]] spec::Answer run(const spec::Request&) override { return spec::Refusal{spec::Refusal::Kind::timeout, "no answer in 2 s", {}}; }
  } refusing;
  compiled::Store store;
  store.put("w", floats({3}, {1, 1, 1}));
  const spec::Program step = spec::parse_program("parameter w : f32[3]\nw1 = exp(w)\noutput w1\nupdate w := w1\n");
  Routine routine(step, Target::backend(refusing), store);
  const Outcome outcome = routine.watch("w1").run();
  CHECK(name_of(outcome.status) == "failed");
  CHECK(outcome.why == "refusing: no answer in 2 s");
  CHECK_THROWS_WITH(outcome.output("w1"), "output w1: the run failed: refusing: no answer in 2 s");
  CHECK(store.read("w") == floats({3}, {1, 1, 1}));
  const RoutineReport report = routine.report();
  CHECK(report.target == "refusing");
  CHECK_FALSE(report.kernels.has_value());
  CHECK_FALSE(report.peak_bytes.has_value());
  CHECK(to_text(report).find("kernels      not reported\n") != std::string::npos);
  CHECK(to_text(report).find("not reported at the peak: not reported intermediate, 12 bound") != std::string::npos);
  CHECK(to_text(report).find("compiled in  not reported\n") != std::string::npos);
  CHECK(to_json(report).find("\"kernels\":null,\"arena_bytes\":null,\"bound_bytes\":12,") != std::string::npos);
}

TEST_CASE("iteration_is_nested_in_the_order_of_declaration_and_restores", "[routine]") {
  compiled::Store store;
  store.put("total", HostTensor::of<std::int64_t>({}, {0}));
  Routine routine(counting_program(), Target::cpu(), store);
  routine.bind("j", 5);
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CHECK(visited(routine, {}) == Pairs{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}});
  CHECK(store.read("total") == HostTensor::of<std::int64_t>({}, {3 + 4 + 5 + 13 + 14 + 15}));
  CHECK(routine.bound("j") == 5);
  CHECK_THROWS_WITH(routine.bound("i"), "run: index `i` is bound to nothing");
  int runs = 0;
  (void)routine.iterate([&](const auto&, const Outcome&) { return ++runs < 2; }, {}, {{"x", floats({}, {1})}});
  CHECK(runs == 2);
  const Outcome stopped = routine.iterate([&](const auto& at, const Outcome&) { return at.at("j") < 4; }, {}, {{"x", floats({}, {1})}});
  CHECK(name_of(stopped.status) == "aborted");
  CHECK(stopped.why == "it was asked to stop after i = 0, j = 4");
  CHECK(stopped.number("n") == 4);
  CHECK(routine.iterate([](const auto&, const Outcome&) { return true; }, {}, {{"x", floats({}, {1})}}).completed());
  CHECK_THROWS_AS(routine.iterate([](const auto&, const Outcome&) -> bool { throw std::logic_error("stop"); }, {}, {{"x", floats({}, {1})}}),
                  std::logic_error);
  CHECK(routine.bound("j") == 5);
  CHECK_THROWS_WITH(visited(routine, {{"x", {}}}), Catch::StartsWith("unknown index 'x'"));
  const spec::Program flat = spec::parse_program("input x : f32[]\ny = exp(x)\noutput y\n");
  CHECK_THROWS_WITH(Routine(flat, Target::cpu(), store).iterate([](const auto&, const Outcome&) { return true; }),
                    "iterate: no index of the program has a range");
}

TEST_CASE("shuffled_orders_are_seeded_permutations", "[routine]") {
  compiled::Store store;
  store.put("total", HostTensor::of<std::int64_t>({}, {0}));
  const spec::Program wide = spec::parse_program("index i : i64[] in 0..2\nindex j : i64[] in 10..29\ny = add(i, j)\noutput y\n");
  Routine routine(wide, Target::cpu(), store);
  const auto orders_of = [&](Order order) {
    std::vector<std::vector<std::int64_t>> passes(3);
    (void)routine.iterate([&](const auto& at, const Outcome&) { passes[static_cast<std::size_t>(at.at("i"))].push_back(at.at("j")); return true; },
                          {{"j", order}});
    return passes;
  };
  const auto fixed = orders_of({Order::Kind::shuffled, 4});
  for (const auto& pass : fixed) {
    CHECK(std::set<std::int64_t>(pass.begin(), pass.end()).size() == 20);
    CHECK(*std::min_element(pass.begin(), pass.end()) == 10);
    CHECK(*std::max_element(pass.begin(), pass.end()) == 29);
    CHECK(pass == fixed[0]);
  }
  CHECK_FALSE(std::is_sorted(fixed[0].begin(), fixed[0].end()));
  const auto fresh = orders_of({Order::Kind::shuffled_per_pass, 4});
  CHECK(fresh[0] != fresh[1]);
  CHECK(fresh[1] != fresh[2]);
  CHECK(fresh == orders_of({Order::Kind::shuffled_per_pass, 4}));
  CHECK(fresh != orders_of({Order::Kind::shuffled_per_pass, 5}));
}

TEST_CASE("a_cache_makes_a_routine_per_shape_and_keeps_the_last", "[routine]") {
  compiled::Store store;
  store.put("w", floats({2}, {1, 2}));
  RoutineCache cache(
      [](const RoutineCache::Types& types) {
        return spec::parse_program("input x : " + to_string(types.at("x")) + "\nparameter w : f32[2]\ny = mul(x, w)\noutput y\n");
      },
      Target::cpu(), store, 2);
  const auto of_rows = [&](std::int64_t rows) {
    return cache.run({{"x", HostTensor::of<float>({rows, 2}, std::vector<float>(static_cast<std::size_t>(2 * rows), 3))}}).output("y");
  };
  CHECK(of_rows(1) == floats({1, 2}, {3, 6}));
  CHECK(of_rows(2) == floats({2, 2}, {3, 6, 3, 6}));
  CHECK(of_rows(1).dims == Dims{1, 2});
  CHECK(cache.made() == 2);
  CHECK(of_rows(3).dims == Dims{3, 2});  // the routine of two rows goes
  CHECK(cache.size() == 2);
  CHECK(of_rows(1).dims == Dims{1, 2});
  CHECK(cache.made() == 3);
  CHECK(of_rows(2).dims == Dims{2, 2});
  CHECK(cache.made() == 4);
  store.write("w", floats({2}, {0, 1}));
  CHECK(of_rows(1) == floats({1, 2}, {0, 3}));
  CHECK_THROWS_WITH(RoutineCache({}, Target::cpu(), store, 0), "routines: a cache of 0 routines keeps none, expected a limit of 1 or more");
}

TEST_CASE("a_report_counts_bytes_that_can_be_counted_by_hand", "[routine]") {
  compiled::Store store;
  store.put("w", floats({2}, {1, 2}));
  const Routine routine(spec::parse_program("input x : f32[5, 2]\nparameter w : f32[2]\ny = mul(x, w)\noutput y\n"), Target::cpu(), store);
  const RoutineReport r = routine.report();
  CHECK(r.target == "cpu");
  CHECK(r.kernels.value() >= 1);
  CHECK(r.bound_bytes == 8);
  CHECK(r.given_bytes == 40);
  CHECK(r.output_bytes == 40);
  CHECK(r.peak_bytes.value() == 88 + r.arena_bytes.value());
  CHECK(r.compile_seconds.value() > 0);
  CHECK(to_text(r).find("88") != std::string::npos);
  CHECK(to_json(r).find("\"bound_bytes\":8,") != std::string::npos);
}

TEST_CASE("a_backend_that_compiles_reports_what_a_target_of_its_own_does", "[routine]") {
  compiled::Store store;
  store.put("w", floats({2}, {1, 2}));
  const spec::Program program = spec::parse_program("input x : f32[5, 2]\nparameter w : f32[2]\ny = mul(x, w)\ns = sum(y)\nu = mul(w, s)\noutput y\nupdate w := u\ncapture s\n");
  const auto cpu = compiled::make_cpu_backend();
  const RoutineReport there = Routine(program, Target::backend(*cpu), store).report();
  const RoutineReport here = Routine(program, Target::cpu(), store).report();
  CHECK(there.target == "cpu");
  CHECK(there.kernels.value() >= 1);
  CHECK(there.arena_bytes.has_value());
  CHECK(there.compile_seconds.value() > 0);
  CHECK(there.output_bytes == 40 + 4);
  CHECK(there.output_bytes == here.output_bytes);
  CHECK(there.peak_bytes.value() == 40 + 8 + 44 + there.arena_bytes.value());
}

TEST_CASE("runs_that_are_given_nothing_follow_the_store_and_the_indices", "[routine]") {
  const spec::Program program = spec::parse_program("input data : f32[4]\nindex i : i64[] in 0..3\nparameter seen : f32[]\nx = gather(data, i)\nmore = add(seen, x)\noutput x\nupdate seen := more\n");
  const auto reference = reference::make_reference_backend();
  for (const Target& target : {Target::cpu(), Target::backend(*reference)}) {
    compiled::Store store;
    Routine routine(program, target, store);
    CHECK_THROWS_WITH(routine.run(), "run: input `data` is missing");
    store.put("data", floats({4}, {1, 2, 3, 4}));
    store.write("seen", floats({}, {0}));
    CHECK_THROWS_WITH(routine.run(), "run: input `i` is missing");
    routine.bind("i", 2);
    CHECK(routine.run().number("x") == 3);
    routine.bind("i", 1);
    CHECK(routine.run().number("x") == 2);
    store.write("data", floats({4}, {10, 20, 30, 40}));
    CHECK(routine.run().number("x") == 20);
    CHECK(routine.run({{"data", floats({4}, {5, 6, 7, 8})}}).number("x") == 6);
    Routine moved = std::move(routine);
    moved.bind("i", 3);
    CHECK(moved.run().number("x") == 40);
    CHECK(store.read("seen") == floats({}, {3 + 2 + 20 + 6 + 40}));
    CHECK(store.names() == std::vector<std::string>{"data", "seen"});
  }
}

TEST_CASE("captured_values_are_in_the_outcome_on_every_target", "[routine][captures]") {
  const spec::Program program = spec::parse_program("input x : f32[3]\nparameter w : f32[3]\nh = mul(x, w)\na = exp(h)\ny = sum(a)\nw1 = add(w, a)\noutput y\nupdate w := w1\ncapture h, w1, y\n");
  const auto reference = reference::make_reference_backend();
  const auto cpu = compiled::make_cpu_backend();
  for (const Target& target : {Target::cpu(), Target::backend(*cpu), Target::backend(*reference)}) {
    compiled::Store store;
    store.put("w", floats({3}, {1, 2, 4}));
    const Outcome outcome = Routine(program, target, store).run({{"x", floats({3}, {1, 0, -0.5F})}});
    CHECK(outcome.outputs.size() == 1);
    REQUIRE(outcome.captures.size() == 3);
    CHECK(outcome.captured("h") == floats({3}, {1, 0, -2}));
    CHECK(outcome.captured("w1") == store.read("w"));
    CHECK(outcome.captured("y") == outcome.output("y"));
    CHECK_THROWS_WITH(outcome.captured("a"), Catch::StartsWith("unknown capture 'a'"));
    CHECK_THROWS_WITH(outcome.output("h"), Catch::StartsWith("unknown output 'h'"));
  }
}
