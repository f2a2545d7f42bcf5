// What checks met stands in the journal of a run, however it was ended, and changes none of its numbers.
#include "training/run/run.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/assurance/trained.hpp"
#include "tests/training/certificates.hpp"

using namespace etalon;
using namespace etalon::training;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t interval = 4;

Declaration declaration_of(Trainer& trainer, const ShadowPolicy& policy) {
  Declaration d;
  d.task = "moons";
  d.program = trainer.step_text();
  d.data = std::string(64, 'd');
  d.steps = trainer.steps();
  d.interval = interval;
  d.shadow = policy;
  return d;
}

/// Trains what is in the folder, with bits of w1 flipped after steps, so many times each that it is computed; stops after a step.
Ending train(const std::filesystem::path& folder, Trainer& trainer, std::map<std::int64_t, int> flips, std::int64_t stop) {
  Run run = Run::open(file_system(), folder);
  Replica replica(trainer, {});
  Shadow shadow(run.declaration().shadow, "a run", trainer.state(), replica.ways(), {});
  trainer.surround([&](std::int64_t step, const std::function<Outcome()>& compute) {
    return shadow.run(step, [&] {
      Outcome outcome = compute();
      if (flips[step]-- > 0) flip_in(trainer.state(), {"w1", 3, 20});
      return outcome;
    });
  });
  std::int64_t done = 0;
  const Onlookers onlookers{[&](const StepRecord& record) { done = record.step + 1; }, {}, [&] { return done == stop; }, [&] { return shadow.take(); }};
  run.restore(trainer, onlookers);
  const Ending ending = run.train(trainer, onlookers);
  trainer.surround({});
  return ending;
}

std::vector<JournalLine> lines_in(const std::filesystem::path& folder) {
  const auto storage = file_system();
  return Journal(*storage, folder / "journal.jsonl").lines();
}

}  // namespace

TEST_CASE("the journal has what checks met, also where the run was ended in an interval", "[shadow]") {
  const TemporaryFolder scratch;
  Trainer trainer = moons_trainer(2);
  const Named start = trainer.state().download();
  std::map<std::string, std::vector<JournalLine>> journals;
  for (const std::string name : {"honest", "whole", "ended"}) {
    const std::filesystem::path folder = scratch / name;
    const ShadowPolicy policy = name == "honest" ? ShadowPolicy{} : ShadowPolicy{1, 0};
    (void)Run::begin(file_system(), folder, declaration_of(trainer, policy), start);
    const std::map<std::int64_t, int> flips = name == "honest" ? std::map<std::int64_t, int>{} : std::map<std::int64_t, int>{{5, 1}, {13, 1}};
    if (name == "ended") REQUIRE(train(folder, trainer, flips, 6).status == Ending::Status::stopped);
    REQUIRE(train(folder, trainer, flips, 0).status == Ending::Status::finished);
    journals[name] = lines_in(folder);
  }
  REQUIRE(journals["honest"].size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    const JournalLine &whole = journals["whole"].at(i), &ended = journals["ended"].at(i);
    CHECK(same_bits(whole, journals["honest"][i]));
    CHECK(same_bits(ended, whole));
    CHECK(journals["honest"][i].shadow.empty());
    CHECK(ended.shadow.replayed == whole.shadow.replayed);
    CHECK(whole.shadow.replayed == (i < 5 ? interval : 2));
    CHECK(ended.shadow.transient.size() == whole.shadow.transient.size());
    REQUIRE(whole.shadow.transient.size() == (i == 1 || i == 3 ? 1 : 0));
    if (i == 1) CHECK_THAT(whole.shadow.transient[0], Contains("step 6 on core ") && Contains("w1[1, 1] is "));
  }
}

TEST_CASE("a fault that persists ends the run at what was saved before it", "[shadow]") {
  const TemporaryFolder scratch;
  Trainer trainer = moons_trainer(2);
  (void)Run::begin(file_system(), scratch / "r", declaration_of(trainer, {1, 0}), trainer.state().download());
  const Ending ending = train(scratch / "r", trainer, {{5, 4}}, 0);
  CHECK(ending.status == Ending::Status::not_repeated);
  CHECK_THAT(ending.why, Contains("step 6 on core ") && Contains("w1[1, 1] is ") && Contains("no three agree"));
  CHECK(ending.saved == interval);
  CHECK(lines_in(scratch / "r").size() == 1);
  CHECK(train(scratch / "r", trainer, {}, 0).status == Ending::Status::finished);
  CHECK(lines_in(scratch / "r").size() == 6);
}
