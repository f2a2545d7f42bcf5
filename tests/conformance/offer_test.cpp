// A stranger is asked what he offers, and what he offers is held against what was compared.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "conformance/reports/gaps.hpp"
#include "conformance/reports/json_lines.hpp"
#include "reference/backend.hpp"
#include "tests/conformance/backends.hpp"

using namespace etalon;
using namespace etalon::conformance;

namespace {

struct Ran {
  int code = -1;
  std::string console;
  Report report;
};

Ran ran(ConformOptions options, spec::Backend& backend) {
  const auto path = std::filesystem::temp_directory_path() / ("etalon_offer_" + std::to_string(::getpid()) + ".jsonl");
  options.backend_name = "test";
  options.json_path = path.string();
  options.shrink_attempts = 20;
  std::ostringstream console;
  Ran all;
  all.code = run_conform(options, backend, console);
  all.console = console.str();
  all.report = read_report(path.string());
  std::filesystem::remove(path);
  return all;
}

ConformOptions of(std::vector<std::string> operations) {
  ConformOptions options;
  options.operations = std::move(operations);
  return options;
}

std::vector<spec::Request> requests_to(spec::Backend& inner, const tests::Described::Change& change,
                                       const ConformOptions& options, int& code) {
  std::vector<spec::Request> asked;
  std::mutex mutex;
  tests::Spoiled recorded(inner, [&](const spec::Request& r, spec::Answer a) {
    const std::lock_guard lock(mutex);
    asked.push_back(r);
    return a;
  });
  tests::Described backend(recorded, change);
  code = ran(options, backend).code;
  return asked;
}

bool has_rank_above_one(const spec::Request& r) {
  return std::any_of(r.inputs.begin(), r.inputs.end(), [](const HostTensor& t) { return t.dims.rank > 1; });
}

spec::Answer only_vectors(const spec::Request& r, spec::Answer a) {
  if (has_rank_above_one(r)) return spec::Refusal{spec::Refusal::Kind::unsupported, "only vectors", "shape"};
  return a;
}

std::size_t answered(const Report& report, const std::string& operation, const std::string& check) {
  return static_cast<std::size_t>(std::count_if(report.records.begin(), report.records.end(), [&](const Record& r) {
    return r.operation == operation && r.check == check && r.outcome.verdict == Verdict::pass;
  }));
}

}  // namespace

TEST_CASE("operations, element types and modes of the description limit what is asked", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  const auto offers_little = [](spec::Description& d) {
    d.operations = {"neg"};
    d.dtypes = {DType::f32};
    d.modes = {spec::Mode::forward};
    d.rejects = false;
  };
  int code = -1;
  const std::vector<spec::Request> asked = requests_to(*inner, offers_little, of({"neg", "exp", "add"}), code);
  CHECK(code == 0);
  CHECK(asked.size() > 20);
  for (const spec::Request& r : asked) {
    CHECK(r.mode == spec::Mode::forward);
    for (const HostTensor& t : r.inputs) CHECK(t.dtype == DType::f32);
    for (const auto& step : r.program.steps) CHECK(std::get<spec::Call>(step).operation == "neg");
  }
}

TEST_CASE("of a program of parts those are asked for that call only what is offered", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  const std::vector<std::string> few{"neg", "exp", "abs", "mul"};
  const auto offers_few = [&](spec::Description& d) {
    d.operations = few;
    d.dtypes = {DType::f32};
    d.modes = {spec::Mode::forward};
  };
  ConformOptions options = of({"neg", "exp"});
  options.checks = {Check::program};
  int code = -1;
  std::set<std::string> readers;
  for (const spec::Request& r : requests_to(*inner, offers_few, options, code)) {
    for (const auto& step : r.program.steps) {
      const auto& call = std::get<spec::Call>(step);
      CHECK(std::find(few.begin(), few.end(), call.operation) != few.end());
      readers.insert(call.operation);
    }
    for (const HostTensor& t : r.inputs) CHECK(t.dtype == DType::f32);
    CHECK(r.inputs.size() == r.program.inputs.size());
  }
  CHECK(code == 0);
  CHECK(readers.size() == few.size());
}

TEST_CASE("a result of a type that is not offered is not asked for, and that is seen", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  const auto reals_alone = [](spec::Description& d) {
    d.operations = {"neg", "isnan"};
    d.dtypes = {DType::f32};
  };
  tests::Described backend(*inner, reals_alone);
  const Ran found = ran(of({"neg", "isnan"}), backend);
  CHECK(found.code == 1);
  const auto gaps = never_compared(found.report);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].what == "isnan");
  CHECK(gaps[0].reasons.at(0).why == "not asked: every case needs bool, which the description does not list");
}

TEST_CASE("what is offered and never compared is a finding", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled backend(*inner, [](const spec::Request& r, spec::Answer a) -> spec::Answer {
    const auto& call = std::get<spec::Call>(r.program.steps.front());
    if (call.operation != "softmax" || std::holds_alternative<spec::Refusal>(a)) return a;
    return spec::Refusal{spec::Refusal::Kind::unsupported, "only the last axis", "attribute"};
  });
  ConformOptions options = of({"neg", "softmax"});
  options.checks = {Check::value};
  const Ran found = ran(options, backend);
  CHECK(found.code == 1);
  CHECK(conclusion(found.report).text == "does not conform: offered and never compared: softmax");
  CHECK_THAT(found.console, Catch::Contains("softmax: offered, nothing compared: only the last axis, "));
  const auto reasons = reasons_of(found.report.records);
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0].operations == std::vector<std::string>{"softmax"});
  CHECK(reasons[0].times > 20);
  options.operations = {"neg"};
  CHECK(ran(options, backend).code == 0);
}

TEST_CASE("a mode that is offered and never answered is a finding of a run of everything", "[offer]") {
  Report report;
  const auto add = [&](const std::string& operation, const std::string& mode, Verdict verdict,
                       std::size_t comparisons) {
    Record r;
    r.operation = operation;
    r.mode = r.check = mode;
    if (mode == "forward") r.check = "value";
    r.dtype = "f32";
    r.outcome.verdict = verdict;
    r.outcome.comparisons = comparisons;
    r.outcome.why = verdict == Verdict::unsupported ? "no derivatives" : "";
    report.records.push_back(r);
  };
  add("neg", "forward", Verdict::pass, 3);
  add("neg", "vjp", Verdict::unsupported, 0);
  REQUIRE(never_compared(report).size() == 1);
  CHECK(words_of(never_compared(report)[0]) == "vjp: offered, nothing compared: no derivatives, 1×");
  report.header.selection.operations = {"neg"};
  CHECK(never_compared(report).empty());
  CHECK(conclusion(report).text == "conforms: inference, 1 operation");
  add("exp", "forward", Verdict::crashed, 0);
  CHECK(never_compared(report).empty());
}

TEST_CASE("for what is refused more is drawn of the kind that is answered", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  tests::Spoiled backend(*inner, only_vectors);
  ConformOptions options = of({"neg"});
  options.dtypes = {DType::f32};
  options.checks = {Check::value, Check::adjoint};
  options.jobs = 1;
  const Ran one = ran(options, backend);
  // As many as a backend that answers everything is asked.
  CHECK(answered(one.report, "neg", "value") >= 21);
  CHECK(answered(one.report, "neg", "adjoint") == 2);
  options.jobs = 3;
  const Ran three = ran(options, backend);
  REQUIRE(one.report.records.size() == three.report.records.size());
  for (std::size_t i = 0; i < one.report.records.size(); ++i)
    CHECK(result_line(one.report.records[i]) == result_line(three.report.records[i]));
}

TEST_CASE("a profile says what conforms covers, and is not met by less", "[conform][offer]") {
  const auto inner = reference::make_reference_backend();
  tests::Described values_alone(*inner, [](spec::Description& d) { d.modes = {spec::Mode::forward}; });
  ConformOptions options = of({"neg"});
  CHECK(conclusion(ran(options, values_alone).report).text == "conforms: inference, 1 operation");
  CHECK(conclusion(ran(options, *inner).report).text == "conforms: all, 1 operation");
  options.profile = Profile::training;
  options.modes = modes_of(Profile::training);
  const Ran less = ran(options, values_alone);
  CHECK(less.code == 1);
  CHECK(conclusion(less.report).text == "does not conform to training: nothing compared in vjp");
  const Ran enough = ran(options, *inner);
  CHECK(conclusion(enough.report).text == "conforms: training, 1 operation");
  for (const Record& r : enough.report.records) CHECK(r.mode != "jvp");
}
