// Checks of steps while a run trains: none without a fault, and as many as are predicted with faults.
#include "training/shadow/shadow.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "tests/assurance/spoiled_steps.hpp"
#include "tests/assurance/trained.hpp"
#include "tests/sanitized.hpp"
#include "training/shadow/checks.hpp"

using namespace etalon;
using namespace etalon::training;
using Catch::Matchers::Contains;

namespace {

/// The state after the first steps of an honest run.
Named honest_state(Trainer& trainer, const Named& start, std::int64_t steps) {
  trainer.surround({});
  trainer.state().upload(start, Upload::strict, Part::all);
  trainer.run_from(0, 0, [&](const StepRecord& record) { return record.step + 1 < steps; });
  return trainer.state().download();
}

/// What a step's own computation has wrong, the n-th time that the step is computed.
using Planted = std::function<std::optional<Flip>(std::int64_t step, int time)>;

struct Watched {
  ShadowResults results;
  std::string ended;  ///< by which message, unless it went to its end
};

/// Steps from the start with faults in the run's own computations.
Watched watched(Trainer& trainer, const Named& start, std::int64_t steps, const ShadowPolicy& policy, const std::string& run, const OtherWays& ways,
                const Planted& planted) {
  trainer.state().upload(start, Upload::strict, Part::all);
  Shadow shadow(policy, run, trainer.state(), ways, {});
  trainer.surround([&](std::int64_t step, const std::function<Outcome()>& compute) {
    int time = 0;
    return shadow.run(step, [&] {
      Outcome outcome = compute();
      if (const auto flip = planted(step, time++)) flip_in(trainer.state(), *flip);
      return outcome;
    });
  });
  Watched found;
  try {
    trainer.run_from(0, 0, [&](const StepRecord& record) {
      found.results += shadow.take();
      return record.step + 1 < steps && found.results.transient.empty();
    });
  } catch (const NotRepeated& error) {
    found.ended = error.what();
  }
  trainer.surround({});
  return found;
}

/// Whether so many of the runs were found as the chance says, within three standard deviations and what the chance itself is
/// known to.
bool as_predicted(int found, int runs, double chance, double known_to = 0) {
  const double all = runs, deviation = std::sqrt(all * chance * (1 - chance) + all * all * known_to * known_to);
  return std::abs(found - all * chance) <= 3 * deviation;
}

}  // namespace

TEST_CASE("honest steps raise no alarm", "[shadow]") {
  struct Case {
    Task task;
    Dataset rows;
    TrainerOptions how;
    std::int64_t steps;
    ShadowPolicy policy;
  };
  const std::int64_t share = test::sanitized ? 5 : 1;
  std::vector<Case> cases = {{digits_mlp(), some_digits(96), {5, 60, 32, true, 2}, 160 / share, {1, 80 / share}},
                             {digits_cnn(), some_digits(32), {5, 4, 8, true, 1}, 16, {1, 10}},
                             {moons(), points(), {5, 30, 4, true, 1}, 300 / share, {1, 20}}};
  if (test::sanitized) cases.erase(cases.begin() + 1);
  ShadowResults all;
  for (const Case& one : cases) {
    Trainer trainer(one.task, one.rows, one.how);
    const Named start = trainer.state().download(), honest = honest_state(trainer, start, one.steps);
    trainer.state().upload(start, Upload::strict, Part::all);
    Checks checks(trainer, one.policy, "a run", cpu_judges(), [](const std::string& line) { FAIL(line); });
    trainer.run_from(0, 0, [&](const StepRecord& record) { return record.step + 1 < one.steps; });
    CHECK(trainer.state().download() == honest);
    const ShadowResults found = checks.take();
    INFO(one.task.name << ": " << found.compared << " elements compared, " << found.elements << " judged in " << found.judged << " steps, "
                       << found.undecided << " undecided");
    CHECK(found.transient.empty());
    CHECK(found.replayed == one.steps);
    CHECK(found.judged > 0);
    CHECK(found.elements > 1000 * found.judged);
    CHECK(found.undecided == 0);
    all += found;
  }
  CHECK(all.compared > 3'000'000 / share);
  CHECK(all.elements > 300'000 / share);
}

TEST_CASE("faults that do not repeat are met as often as is predicted", "[shadow]") {
  const int runs = test::sanitized ? 40 : 200;
  const std::int64_t steps = 60;
  const double faulty = 0.05;
  const ShadowPolicy policy{4, 60};
  Trainer trainer = moons_trainer(6);
  REQUIRE(trainer.steps() >= steps);
  Replica replica(trainer, cpu_judges());
  const Named start = trainer.state().download();
  int met = 0, faults = 0;
  for (int i = 0; i < runs; ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    const auto planted = [&](std::int64_t, int time) -> std::optional<Flip> {
      if (time > 0 || std::uniform_real_distribution(0.0, 1.0)(random) >= faulty) return std::nullopt;
      ++faults;
      return drawn_flip(start, random, 0, 22);
    };
    const Watched found = watched(trainer, start, steps, policy, "run " + std::to_string(i), replica.ways(), planted);
    REQUIRE(found.ended.empty());
    met += found.results.transient.empty() ? 0 : 1;
  }
  const double chance = chance_of_alarm(policy, steps, faulty, {1, 1});
  INFO(faults << " flips, met in " << met << " of " << runs << " runs, predicted " << runs * chance);
  CHECK(faults > runs);
  CHECK((chance > 0.3 && chance < 0.8));
  CHECK(as_predicted(met, runs, chance));
}

TEST_CASE("faults that repeat are met by judging as often as is predicted, in leaves, their sums and updates, too", "[shadow]") {
  const std::int64_t grain = GENERATE(0, 2);
  const int runs = test::sanitized ? 30 : 200, samples = test::sanitized ? 100 : 200;
  const std::int64_t steps = 40;
  const double faulty = 0.2;
  const ShadowPolicy policy{4, 8};
  Trainer trainer = moons_trainer(6, grain);
  Replica replica(trainer, {});
  SpoiledSteps recorded(6, grain);
  const Named start = trainer.state().download();
  // How many flips leave their bounds, of as many as are drawn here.
  std::mt19937 random(1);
  int outside = 0;
  std::set<std::string> parts;
  for (int i = 0; i < samples; ++i) {
    const std::vector<std::string> faults = recorded.judge(i % 11, start, &random).faults;
    outside += faults.empty() ? 0 : 1;
    for (const std::string& fault : faults) parts.insert(fault.substr(0, fault.find(": ")));
  }
  if (grain > 0) CHECK(parts == std::set<std::string>{"leaf 0", "leaf 1", "sum of the leaves", "update"});
  const double judged = static_cast<double>(outside) / samples;
  REQUIRE((judged > 0.5 && judged < 1));

  int met = 0;
  for (int i = 0; i < runs; ++i) {
    std::mt19937 of_run(static_cast<unsigned>(1000 + i));
    std::map<std::int64_t, unsigned> faults;  // of steps, the seed of what is drawn: whatever computes the step has the same fault
    for (std::int64_t step = 0; step < steps; ++step) {
      if (std::uniform_real_distribution(0.0, 1.0)(of_run) < faulty) faults[step] = static_cast<unsigned>(of_run());
    }
    OtherWays shared = replica.ways();
    shared.judge = [&](std::int64_t step, const Named& before, const Named*) {
      JudgedComputation found{replica.ways().replay(step, before)};
      if (!faults.contains(step)) return found;  // a test above judges what is honest
      std::mt19937 of_step(faults.at(step));
      found.judgement = recorded.judge(step, before, &of_step);
      return found;
    };
    const Watched found = watched(trainer, start, steps, policy, "run " + std::to_string(i), shared, [](std::int64_t, int) { return std::optional<Flip>(); });
    CHECK(found.results.transient.empty());
    if (found.ended.empty()) continue;
    ++met;
    REQUIRE_THAT(found.ended, Contains("admitted ") && Contains("outside its bounds again"));
  }
  const double chance = chance_of_alarm(policy, steps, faulty, {0, judged});
  const double slope = (chance_of_alarm(policy, steps, faulty, {0, judged + 0.01}) - chance) / 0.01;
  INFO("of " << samples << " flips " << outside << " leave their bounds; met in " << met << " of " << runs << " runs, predicted " << runs * chance);
  CHECK((chance > 0.2 && chance < 0.8));
  CHECK(as_predicted(met, runs, chance, slope * std::sqrt(judged * (1 - judged) / samples)));
}

TEST_CASE("a fault of a recording that does not repeat ends nothing", "[shadow]") {
  Trainer trainer = moons_trainer(2);
  Replica replica(trainer, cpu_judges());
  const Named start = trainer.state().download(), honest = honest_state(trainer, start, 10);
  OtherWays ways = replica.ways();
  const auto judge = ways.judge;
  for (const std::set<int>& faulty : {std::set<int>{3}, std::set<int>{3, 4}, std::set<int>{3, 5}}) {
    int judgings = 0;
    ways.judge = [&](std::int64_t step, const Named& before, const Named* claimed) {
      JudgedComputation found = judge(step, before, claimed);
      if (faulty.contains(judgings++)) found.judgement.faults = {"h = relu(x): h[2] is 1.5, admitted [0.0, 0.0]"};
      return found;
    };
    const Watched found = watched(trainer, start, 10, {0, 1}, "a run", ways, [](std::int64_t, int) { return std::optional<Flip>(); });
    if (faulty.size() == 1) {
      CHECK(found.ended.empty());
      REQUIRE(found.results.transient.size() == 1);
      CHECK_THAT(found.results.transient[0], Contains("step 4 on core ") && Contains("h[2] is 1.5") && Contains("did not repeat"));
    } else {
      CHECK_THAT(found.ended, Contains("step 4 on core ") && Contains("h[2] is 1.5") && Contains("outside its bounds again"));
    }
  }
}

TEST_CASE("a fault that does not repeat is named, and training goes on with the right state", "[shadow]") {
  Trainer trainer = moons_trainer(2);
  Replica replica(trainer, cpu_judges());
  const Named start = trainer.state().download(), honest = honest_state(trainer, start, 20);
  const OtherWays ways = replica.ways();
  for (const ShadowPolicy& policy : {ShadowPolicy{1, 0}, ShadowPolicy{0, 1}}) {
    INFO(to_text(policy));
    trainer.state().upload(start, Upload::strict, Part::all);
    Shadow shadow(policy, "a run", trainer.state(), ways, {});
    trainer.surround([&](std::int64_t step, const std::function<Outcome()>& compute) {
      int time = 0;
      return shadow.run(step, [&] {
        Outcome outcome = compute();
        if (step == 6 && time++ == 0) flip_in(trainer.state(), {"w1", 3, 29});
        return outcome;
      });
    });
    trainer.run_from(0, 0, [](const StepRecord& record) { return record.step + 1 < 20; });
    trainer.surround({});
    const ShadowResults found = shadow.take();
    REQUIRE(found.transient.size() == 1);
    CHECK_THAT(found.transient[0], Contains("step 7 on core ") && Contains("w1[1, 1] is ") && Contains("computed again") &&
                                       Contains("finite_or_kept1[1, 1] is ") && Contains("admitted [") &&
                                       Contains("(sgd1[1, 1] = ") && Contains("did not repeat"));
    CHECK(trainer.state().download() == honest);
  }
}

TEST_CASE("faults of the replay do not repeat either, and those of one way of two do", "[shadow]") {
  Trainer trainer = moons_trainer(2);
  Replica replica(trainer, {});
  const Named start = trainer.state().download();
  OtherWays ways = replica.ways();
  REQUIRE_FALSE(ways.judge);
  const auto honest = ways.replay;
  int replays = 0;
  std::set<int> faulty;
  ways.replay = [&](std::int64_t step, const Named& before) {
    Computation computed = honest(step, before);
    if (faulty.contains(replays++)) computed.state = flipped(computed.state, {"w2", 5, 3});
    return computed;
  };
  const auto none = [](std::int64_t, int) { return std::optional<Flip>(); };
  for (const auto& [which, persists] : std::map<std::set<int>, bool>{{{}, false}, {{3}, false}, {{3, 4}, true}}) {
    replays = 0;
    faulty = which;
    const Watched found = watched(trainer, start, 10, {1, 0}, "a run", ways, none);
    CHECK(found.results.transient.size() == (which.size() == 1 ? 1 : 0));
    CHECK(found.ended.empty() != persists);
    if (persists) CHECK_THAT(found.ended, Contains("step 4 on core ") && Contains("w2[0, 5] is ") && Contains("no three agree"));
  }
  // Each computation of the run's own is wrong, as on a core that always is.
  const Watched core = watched(trainer, start, 10, {1, 0}, "a run", ways, [](std::int64_t step, int) {
    return step == 2 ? std::optional(Flip{"w2", 5, 3}) : std::nullopt;
  });
  CHECK_THAT(core.ended, Contains("step 3 on core ") && Contains("no three agree"));
}

TEST_CASE("which steps are checked follows from the run and their number, at the rate that is said", "[shadow]") {
  const ShadowPolicy policy{20, 500};
  std::int64_t replayed = 0, judged = 0, both = 0, differ = 0;
  const std::int64_t steps = 100'000;
  for (std::int64_t step = 0; step < steps; ++step) {
    const bool a = policy.replays("one", step), b = policy.judges("one", step);
    replayed += a ? 1 : 0;
    judged += b ? 1 : 0;
    both += a && b ? 1 : 0;
    differ += a != policy.replays("two", step) ? 1 : 0;
  }
  CHECK(as_predicted(static_cast<int>(replayed), static_cast<int>(steps), 1.0 / 20));
  CHECK(as_predicted(static_cast<int>(judged), static_cast<int>(steps), 1.0 / 500));
  CHECK(as_predicted(static_cast<int>(both), static_cast<int>(steps), 1.0 / 10'000));
  CHECK(differ > replayed);
  CHECK(ShadowPolicy{1, 0}.replays("one", 7));
  CHECK_FALSE(ShadowPolicy{1, 0}.judges("one", 7));
}

TEST_CASE("policies are read as they are written, and others are refused with what is wrong", "[shadow]") {
  for (const ShadowPolicy& policy : {ShadowPolicy{20, 5000}, ShadowPolicy{1, 0}, ShadowPolicy{0, 1'000'000'000}}) {
    CHECK(shadow_policy_of(to_text(policy), "--shadow") == policy);
  }
  CHECK(shadow_policy_of("judge=1/3,replay=1/2", "x") == ShadowPolicy{2, 3});
  for (const std::string text : {"", "replay", "replay=", "replay=20", "replay=1/", "replay=1/0", "replay=1/-2", "replay=1/2x", "replay=2/3",
                                 "replay=1/1000000001", "replay=1/99999999999999999999", "replay=1/2,", ",judge=1/2", "replay=1/2,replay=1/2",
                                 "replay=1/2;judge=1/2", "reply=1/2", "judge = 1/2"}) {
    INFO(text);
    CHECK_THROWS_WITH(shadow_policy_of(text, "--shadow"), Contains("--shadow: '") && Contains("expected replay=1/N"));
  }
  // One step of 1000 is faulty. Of so many equal factors none is rounded by more than half an ulp, and so are few sums.
  const auto all_missed = [](double met, int steps) {
    double missed = 1;
    for (int n = 0; n < steps; ++n) missed *= 1 - met;
    return missed;
  };
  for (const int steps : {1, 100, 10'000}) {
    const double bound = (2 * steps + 4) * 0x1p-53;
    CHECK(!(std::abs(1 - chance_of_alarm({0, 5000}, steps, 1e-3, {0, 1}) - all_missed(1e-3 / 5000, steps)) > bound));
    CHECK(!(std::abs(1 - chance_of_alarm({20, 0}, steps, 1e-3, {1, 1}) - all_missed(1e-3 / 20, steps)) > bound));
  }
  CHECK(chance_of_alarm({20, 0}, 1000, 1e-3, {0, 1}) == 0);
}

TEST_CASE("steps of several leaves are computed again and judged, and come to the same bits", "[shadow]") {
  Trainer trainer = moons_trainer(2, 2);
  const Named start = trainer.state().download(), honest = honest_state(trainer, start, 20);
  trainer.state().upload(start, Upload::strict, Part::all);
  CHECK_THROWS_WITH(Checks(trainer, ShadowPolicy{0, 2}, "a run", {}, {}), Contains("judge=1/2: nobody judges"));
  Checks checks(trainer, {2, 2}, "a run", cpu_judges(), [](const std::string& line) { FAIL(line); });
  trainer.run_from(0, 0, [](const StepRecord& record) { return record.step + 1 < 20; });
  const ShadowResults found = checks.take();
  CHECK(found.replayed > 3);
  CHECK(found.compared >= found.replayed * (2 * (32 + 16 + 256 + 16 + 16) + 2 + 2));  // twice, for what the optimizer keeps
  CHECK(found.judged > 3);
  CHECK(found.elements > found.judged * (2 + 1 + 1 + 2 + 1) * 336);  // gradients of two leaves, sums, means, updates
  CHECK(found.undecided == 0);
  CHECK(found.transient.empty());
  CHECK(trainer.state().download() == honest);
}

TEST_CASE("a wrong update of several leaves is met, and named where the recorded step has the same bits", "[shadow]") {
  TrainerOptions how{5, 4, 32, true, 1};
  how.grain = 16;
  Trainer trainer(digits_mlp(), some_digits(96), how);
  Replica replica(trainer, cpu_judges());
  const Named start = trainer.state().download();
  const Watched found = watched(trainer, start, 10, {1, 0}, "a run", replica.ways(), [](std::int64_t step, int time) {
    return step == 6 && time == 0 ? std::optional(Flip{"output.weight", 3, 29}) : std::nullopt;
  });
  REQUIRE(found.results.transient.size() == 1);
  CHECK_THAT(found.results.transient[0], Contains("step 7 on core ") && Contains("output.weight[0, 3] is ") &&
                                             Contains(": update: finite_or_kept") && Contains("did not repeat"));
}
