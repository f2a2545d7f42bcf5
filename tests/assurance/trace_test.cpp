// An interval that a run writes down explains it, and a dispute names any step and assignment of which one bit is another.
#include "tools/assurance/trace.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "tests/assurance/trained.hpp"
#include "tests/sanitized.hpp"
#include "tests/training/certificates.hpp"
#include "tools/assurance/explained.hpp"
#include "training/files/safetensors.hpp"

using namespace etalon;
using namespace etalon::training;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::int64_t steps_of_interval = 2;

/// An epoch of a task in a folder, and the trace of one of its intervals.
struct WrittenRun {
  WrittenRun(const std::string& task, std::int64_t grain) {
    TrainOptions options;
    options.task = task;
    options.epochs = 1;
    options.batch = 8;
    options.grain = grain;
    options.interval = steps_of_interval;
    options.plots = false;
    options.run = folder / "r";
    std::ostringstream unread;
    REQUIRE(train(options, unread).ending.status == Ending::Status::finished);
    replay.emplace(folder / "r", TrainOptions{});
    written = assurance::write_trace(*replay, at, {}, folder / "trace");
  }
  [[nodiscard]] assurance::Explanation explanation(const std::string& trace) const {
    return {replay->declaration(), folder / trace, spec::contract_named("cpu")};
  }

  static constexpr std::size_t at = 2;
  TemporaryFolder folder;
  std::optional<Replay> replay;
  assurance::WrittenTrace written;
};

/// One bit of a number of the file is another. \returns the tensor's name
std::string flip_in_file(const std::filesystem::path& file, std::mt19937& random) {
  const std::string bytes = read_file(file);
  Named tensors = read_safetensors(std::as_bytes(std::span(bytes)), file.string());
  const Flip flip = drawn_flip(tensors, random, 0, 30);
  write_file(file, safetensors_of(flipped(std::move(tensors), flip)));
  return flip.tensor;
}

}  // namespace

TEST_CASE("what a run writes down of an interval comes to what it committed to", "[explained]") {
  for (const std::int64_t grain : {0, 4}) {
    const WrittenRun run(test::sanitized ? "moons" : "digits", grain);
    CHECK(run.written.first == 2 * steps_of_interval + 1);
    CHECK(run.written.last == 3 * steps_of_interval);
    assurance::Explanation trace = run.explanation("trace");
    const Replayed found = trace.interval(run.replay->lines(), WrittenRun::at);
    CHECK(found.difference.empty());
    CHECK(trace.elements() > (test::sanitized ? 1'000 : 10'000));
    CHECK(trace.undecided() == 0);
  }
}

TEST_CASE("fifty disputes name the step and the assignment of which one bit is another", "[explained]") {
  const WrittenRun run("moons", 0);
  std::mt19937 random(1);
  std::vector<JournalLine> forged = run.replay->lines();
  forged[WrittenRun::at].state = sha256_of("forged");
  for (int trial = 0; trial < (test::sanitized ? 5 : 50); ++trial) {
    const std::int64_t step = std::uniform_int_distribution<std::int64_t>(run.written.first, run.written.last)(random);
    const std::string file = fmt::format("step-{}.safetensors", step);
    std::filesystem::remove_all(run.folder / "theirs");
    std::filesystem::copy(run.folder / "trace", run.folder / "theirs");
    const std::string tensor = flip_in_file(run.folder / "theirs" / file, random);
    assurance::Explanation ours = run.explanation("trace"), theirs = run.explanation("theirs");
    const assurance::DisputedInterval found = assurance::dispute({ours, run.replay->lines()}, {theirs, forged}, WrittenRun::at);
    INFO(step << " " << tensor);
    REQUIRE(found.step);
    CHECK(found.step->step == step);
    REQUIRE(found.step->comparison.difference);
    CHECK_THAT(found.step->comparison.difference->element, StartsWith(tensor));
    CHECK(found.departures[0].empty());
    CHECK_FALSE(found.departures[1].empty());
  }
}

TEST_CASE("traces of what is not there are refused", "[explained]") {
  const WrittenRun run("moons", 0);
  CHECK_THROWS_AS(assurance::write_trace(*run.replay, 100, {}, run.folder / "none"), SpecViolation);
  CHECK_FALSE(std::filesystem::exists(run.folder / "none"));
}
