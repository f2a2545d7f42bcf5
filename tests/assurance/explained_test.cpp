// Audits and disputes by traces, of a run small enough to write down by hand.
#include "tools/assurance/explained.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "tests/training/certificates.hpp"
#include "training/files/safetensors.hpp"
#include "training/leaves/programs.hpp"
#include "training/tasks/shipped.hpp"

using namespace etalon;
using namespace etalon::training;
using Catch::Matchers::Contains;

namespace {

/// A number that each step adds a half to.
constexpr const char* adding = R"(input x : f32[1]
index n : i64[] in 0..39
parameter w : f32[1]
w2 = add(w, x)
loss = sum(w2)
output loss
update w := w2
)";

/// A step that computes nothing.
constexpr const char* copying = R"(input x : f32[1]
index n : i64[] in 0..39
parameter loss : f32[]
output loss
)";

std::string file_of(const Named& tensors) { return safetensors_of(tensors); }
HostTensor row_of(float value) { return HostTensor::of<float>({1}, {value}); }
HostTensor scalar_of(float value) { return HostTensor::of<float>({}, {value}); }

Declaration declaration_of(const std::string& program, const std::string& data, const std::string& start) {
  Declaration d;
  d.batch = d.grain = 1;
  d.steps = 40;
  d.interval = 10;
  d.program = program;
  d.data = sha256_of(data);
  d.start = sha256_of(start);
  return d;
}

/// A folder that trains to these steps, one after the other, also back.
struct TracedRun {
  explicit TracedRun(const std::vector<std::int64_t>& plan, std::int64_t nudged = 0) {
    const std::string data = file_of({{"x", row_of(0.5F)}});
    write_file(folder / "data.safetensors", data);
    float w = 1;
    std::string state = file_of({{"w", row_of(w)}});
    declaration = declaration_of(adding, data, state);
    std::int64_t from = 0;
    for (const std::int64_t to : plan) {
      if (to > from) write_file(folder / fmt::format("state-{}.safetensors", from), state);
      std::vector<double> losses;
      for (std::int64_t n = from + 1; n <= to; ++n) {
        w += 0.5F;
        if (n == nudged) w += 0x1p-20F;
        write_file(folder / fmt::format("step-{}.safetensors", n), file_of({{"w2", row_of(w)}, {"loss", scalar_of(w)}}));
        losses.push_back(static_cast<double>(w));
      }
      state = file_of({{"w", row_of(w)}});
      lines.push_back({static_cast<std::int64_t>(lines.size()) + 1, to, sha256_of(state), digest_of_losses(losses)});
      from = to;
    }
  }
  [[nodiscard]] assurance::Explanation explanation() const { return {declaration, folder / "", spec::contract_named("cpu")}; }
  [[nodiscard]] std::vector<std::string> differences() const {
    assurance::Explanation trace = explanation();
    std::vector<std::string> all;
    for (std::size_t at = 0; at < lines.size(); ++at) {
      const Replayed found = trace.interval(lines, at);
      CHECK(found.same == found.difference.empty());
      all.push_back(found.difference);
    }
    return all;
  }

  TemporaryFolder folder;
  Declaration declaration;
  std::vector<JournalLine> lines;
};

assurance::DisputedInterval disputed(const TracedRun& first, const TracedRun& second, std::size_t at) {
  assurance::Explanation a = first.explanation(), b = second.explanation();
  return assurance::dispute({a, first.lines}, {b, second.lines}, at);
}

}  // namespace

TEST_CASE("intervals have the steps that the declaration gives them", "[explained]") {
  CHECK(TracedRun({10, 20, 30, 40}).differences() == std::vector<std::string>(4));
  CHECK(TracedRun({10, 20, 30, 35}).differences() == std::vector<std::string>(4));
  const std::string none = "it goes from step 10 to step 10, expected 10 steps more";
  CHECK(TracedRun({10, 10, 10, 20}).differences() == std::vector<std::string>{"", none, none, ""});
  CHECK(TracedRun({10, 0, 10}).differences().at(1) == "it goes from step 10 to step 0, expected 10 steps more");
  CHECK(TracedRun({10, 10}).differences() == std::vector<std::string>{"", "it goes from step 10 to step 10, expected 1 to 10 steps more"});
  CHECK(TracedRun({5, 15}).differences() == std::vector<std::string>{"it goes from step 0 to step 5, expected 10 steps more", ""});
  CHECK(TracedRun({30}).differences() == std::vector<std::string>{"it goes from step 0 to step 30, expected 1 to 10 steps more"});
}

TEST_CASE("an interval of which no element is held to a bound does not hold", "[explained]") {
  const TemporaryFolder folder;
  const std::string data = file_of({{"x", row_of(0.5F)}}), state = file_of({{"loss", scalar_of(2)}});
  write_file(folder / "data.safetensors", data);
  write_file(folder / "state-0.safetensors", state);
  write_file(folder / "step-1.safetensors", file_of({}));
  assurance::Explanation trace(declaration_of(copying, data, state), folder / "", spec::contract_named("cpu"));
  const std::vector<double> losses{2};
  const Replayed found = trace.interval({{1, 1, sha256_of(state), digest_of_losses(losses)}}, 0);
  CHECK(trace.elements() == 0);
  CHECK_FALSE(found.same);
  CHECK(found.difference == "no element of its steps is held to a bound");
}

TEST_CASE("a dispute names the side whose trace does not come to its journal", "[explained]") {
  const TracedRun honest({10, 20, 30, 40});
  TracedRun forged({10, 20, 30, 40});
  SECTION("another state") {
    forged.lines[1].state = sha256_of("forged");
    const std::string says = "the state after step 20 is " + honest.lines[1].state + ", committed is " + forged.lines[1].state;
    CHECK(disputed(honest, forged, 1).departures == std::array<std::string, 2>{"", says});
    CHECK(disputed(forged, honest, 1).departures == std::array<std::string, 2>{says, ""});
    CHECK_FALSE(disputed(honest, forged, 1).step);
  }
  SECTION("other losses") {
    forged.lines[1].losses = sha256_of("forged");
    CHECK_THAT(disputed(honest, forged, 1).departures[1], Contains("the digest of the losses is "));
    CHECK(disputed(honest, forged, 1).departures[0].empty());
  }
  SECTION("no steps") {
    forged.lines[1].step = 10;
    CHECK(disputed(honest, forged, 1).departures[1] == "it goes from step 10 to step 10, expected 10 steps more");
    CHECK(disputed(forged, honest, 1).departures[1].empty());
  }
  SECTION("a state before it that is not the one committed to, in either trace or in both") {
    const std::string other = file_of({{"w", row_of(7)}});
    const std::string says = "the state after step 10 is " + sha256_of(other) + ", committed is " + honest.lines[0].state;
    forged.lines[1].state = sha256_of("forged");
    write_file(forged.folder / "state-10.safetensors", other);
    CHECK(disputed(honest, forged, 1).departures == std::array<std::string, 2>{"", says});
    write_file(honest.folder / "state-10.safetensors", other);
    CHECK(disputed(honest, forged, 1).departures == std::array<std::string, 2>{says, says});
  }
}

TEST_CASE("a dispute names the step, and beside it the side whose trace goes no further", "[explained]") {
  const TracedRun honest({10, 20, 30, 40}), nudged({10, 20, 30, 40}, 13);
  const assurance::DisputedInterval found = disputed(honest, nudged, 1);
  REQUIRE(found.step);
  CHECK(found.step->step == 13);
  CHECK(found.departures == std::array<std::string, 2>{});
  std::filesystem::remove(nudged.folder / "step-15.safetensors");
  const assurance::DisputedInterval cut = disputed(honest, nudged, 1);
  REQUIRE(cut.step);
  CHECK(cut.step->step == 13);
  CHECK(cut.departures[0].empty());
  CHECK_THAT(cut.departures[1], Contains("step-15.safetensors"));
}

TEST_CASE("names of a trace are quoted on one line", "[explained]") {
  const TracedRun traced({10});
  write_file(traced.folder / "step-3.safetensors", file_of({{"w2", row_of(2.5F)}, {"loss", scalar_of(2.5F)}, {"a\n\x1b[2J", row_of(0)}}));
  assurance::Explanation trace = traced.explanation();
  CHECK_THROWS_WITH(trace.interval(traced.lines, 0), Contains("step-3.safetensors: `a  [2J` is no value that the program computes"));
}

TEST_CASE("rows of a task that ships follow from the declaration, and another's data or step is refused", "[explained]") {
  const TemporaryFolder folder;
  Declaration d;
  d.task = "moons";
  d.model = "mlp";
  d.batch = d.grain = 16;
  d.rows = 800;
  d.steps = 50;
  d.interval = 10;
  const Shipped of = shipped(d.task, d.model, {}, d.seed);
  d.data = of.digest;
  d.program = step_text(step_programs(of.task, {50, 16, 2}, DType::f32, 1));
  const auto explain = [&](const Declaration& declaration) {
    return assurance::Explanation(declaration, folder / "", spec::contract_named("cpu"));
  };
  CHECK_NOTHROW(explain(d));
  DeclaredRows rows(d, {});
  CHECK(rows.of_step(1).at(names::inputs).dims == Dims{50, 16, 2});
  Declaration other = d;
  other.seed = 2;
  CHECK_THROWS_WITH(explain(other), Contains("the data has the SHA-256 " + d.data));
  other = d;
  other.rows = 801;
  CHECK_THROWS_WITH(explain(other), Contains("rows is 801, now it is 800"));
  other = d;
  other.program.replace(other.program.find("weight_decay = 0.0001"), 21, "weight_decay = 0.0002");
  CHECK_THROWS_WITH(explain(other), Contains("line ") && Contains("of the step is "));
  other = d;
  other.grain = 8;
  CHECK_THROWS_WITH(explain(other), Contains("1 programs with an empty line between, expected 2"));
  other.task = "own";
  CHECK_THROWS_WITH(explain(other), Contains("expected 2"));
  other.grain = 16;
  CHECK_THROWS_WITH(explain(other), Contains("data.safetensors"));
}
