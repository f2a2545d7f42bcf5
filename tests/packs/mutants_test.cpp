// Packs of the quick tier convict the mutants that values and derivatives alone can show; the sound backend passes what convicts.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "conformance/pack/json.hpp"
#include "conformance/pack/judge.hpp"
#include "conformance/pack/write.hpp"
#include "tests/mutants/backend.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/score.hpp"

using namespace etalon;
using conformance::PackedTest;
using mutants::Mutant;

namespace {

[[nodiscard]] conformance::ConformOptions options_of(const Mutant& mutant) {
  conformance::ConformOptions options;
  options.operations = mutants::known_operations(mutant.operations);
  return options;
}

/// The tests of the operations that show the mutant soonest, as they are read from the pack's files.
[[nodiscard]] std::vector<PackedTest> tests_for(const Mutant& mutant, const spec::Contract& contract) {
  conformance::ConformOptions options = options_of(mutant);
  options.jobs = 1;
  std::vector<PackedTest> tests;
  const conformance::WrittenPack pack = conformance::make_pack(options, contract, "mutants");
  for (std::size_t f = 0; f < pack.index.files.size(); ++f) {
    for (PackedTest& test : conformance::packed_operation_from_json(pack.files[f].second).tests) tests.push_back(std::move(test));
  }
  return tests;
}

/// The first test that convicts; null where none does. Answers that are refused convict nobody.
[[nodiscard]] const PackedTest* convicting(spec::Backend& backend, const std::vector<PackedTest>& tests) {
  for (const PackedTest& test : tests) {
    const spec::Answer answer = backend.run(test.request);
    if (!test.rejected && std::holds_alternative<spec::Refusal>(answer)) continue;
    if (conformance::judge(test, answer).verdict == conformance::Verdict::fail) return &test;
  }
  return nullptr;
}

struct Tally {
  std::mutex mutex;
  std::size_t convicted = 0;
  std::vector<std::string> survivors, unsound;
};

void hold(const Mutant& mutant, Tally& tally) {
  const auto sound = compiled::make_cpu_backend();
  const std::vector<PackedTest> tests = tests_for(mutant, sound->describe().contract);
  const PackedTest* by = convicting(*mutants::make_mutant(mutant), tests);
  const bool passes = by == nullptr || conformance::judge(*by, sound->run(by->request)).verdict != conformance::Verdict::fail;
  const std::lock_guard lock(tally.mutex);
  if (by == nullptr) tally.survivors.emplace_back(mutant.name);
  else ++tally.convicted;
  if (!passes) tally.unsound.push_back(std::string(mutant.name) + " by " + by->request.id);
}

}  // namespace

/// Those that no test of the pack convicts. A line that comes or goes is a change of what packs can show, and of docs/packs.md.
const std::vector<std::string> known_survivors = {
    "buffer_not_cleared", "cotangents_cut",   "empty_tensor_refused", "equal_operands_are_one",   "extremum_shared_by_ties", "extremum_to_all_ties",
    "infinite_shift",     "masked_by_factor", "reverse_pass_in_training", "softplus_linear_beyond"};

TEST_CASE("a quick pack convicts all mutants but ten, and not the sound backend", "[packs]") {
  const auto list = mutants::mutants();
  Tally tally;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < list.size(); i = next++) hold(list[i], tally);
  };
  {
    const std::jthread other(work);
    work();
  }
  std::sort(tally.survivors.begin(), tally.survivors.end());
  for (const std::string& what : tally.unsound) UNSCOPED_INFO("the sound backend fails: " << what);
  CAPTURE(tally.convicted, list.size());
  CHECK(tally.unsound.empty());
  CHECK(tally.survivors == known_survivors);
  CHECK(tally.convicted + known_survivors.size() == list.size());
}
