#include "conformance/waivers.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "conformance/conform.hpp"
#include "spec/error.hpp"
#include "tests/conformance/reports.hpp"

using namespace etalon;
using namespace etalon::conformance;

namespace {

Waiver waiver(const std::string& operation) { return {{operation}, "", "", "", "", "known", "2031-01-01"}; }

ConformOptions asked(std::vector<std::string> operations) {
  ConformOptions options;
  options.operations = std::move(operations);
  options.today = "2026-06-30";
  return options;
}

// Errors that remain when these waivers are held against a run with one failing cotangent of exp.
std::vector<std::string> errors(const std::vector<Waiver>& waivers, const ConformOptions& options, Report* result = nullptr) {
  Report report;
  report.records = {tests::record("exp", "value", 0, Verdict::pass), tests::record("exp", "vjp", 0, Verdict::fail)};
  apply_waivers(report, waivers, options);
  if (result != nullptr) *result = report;
  return report.waiver_errors;
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_waivers(text, "known.json", spec::Library());
  } catch (const SpecViolation& error) {
    return error.what();
  }
  return "";
}

std::string file(const std::string& entry) { return R"({"schema":1,"waivers":[)" + entry + "]}"; }

}  // namespace

TEST_CASE("a failing program is matched by what it calls", "[waivers]") {
  const auto left = [](const std::string& operation) {
    Report report;
    report.records = {tests::record("exp", "program", 0, Verdict::fail)};
    report.records[0].outcome.calls = {"log", "tanh"};
    apply_waivers(report, {waiver(operation)}, asked({"exp", "log", "tanh", "sin"}));
    return report.records[0].outcome.verdict;
  };
  CHECK(left("tanh") == Verdict::waived);
  CHECK(left("exp") == Verdict::waived);
  CHECK(left("sin") == Verdict::fail);
}

TEST_CASE("a matching failure is waived, everything else stays as it is", "[waivers]") {
  Report report;
  CHECK(errors({waiver("exp")}, asked({"exp"}), &report).empty());
  CHECK(report.records[0].outcome.verdict == Verdict::pass);
  CHECK(report.records[1].outcome.verdict == Verdict::waived);
  CHECK(report.records[1].waived->reason == "known");
  CHECK(report.records[1].waived->verdict == Verdict::fail);
  CHECK(report.waivers[0].matched == 1);
  Waiver narrow = waiver("exp");
  for (auto [member, right, wrong] : {std::tuple{&Waiver::mode, "vjp", "jvp"}, {&Waiver::check, "vjp", "value"}, {&Waiver::dtype, "f32", "f64"}}) {
    Waiver w = narrow;
    w.*member = right;
    CHECK(errors({w}, asked({"exp"}), &report).empty());
    CHECK(report.records[1].outcome.verdict == Verdict::waived);
    w.*member = wrong;
    const auto found = errors({w}, asked({"exp"}), &report);
    CHECK(report.records[1].outcome.verdict == Verdict::fail);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("matches no failure") != std::string::npos);
  }
}

TEST_CASE("what was not asked is no error", "[waivers]") {
  Waiver of_values = waiver("exp");
  of_values.check = "value";
  CHECK(errors({of_values}, asked({"exp"})).size() == 1);
  ConformOptions options = asked({"exp"});
  CHECK(errors({waiver("relu")}, options).empty());
  options.modes = {spec::Mode::vjp};
  CHECK(errors({of_values}, options).empty());
  options = asked({"exp"});
  options.dtypes = {DType::f64};
  Waiver any_type = waiver("exp");
  any_type.check = "jvp";
  CHECK(errors({any_type}, options).empty());  // f32 might fail
  any_type.dtype = "f64";
  CHECK(errors({any_type}, options).size() == 1);
  any_type.dtype = "bf16";
  CHECK(errors({any_type}, asked({"exp"})).empty());  // not in this tier
  options = asked({"exp", "relu"});
  options.shard = {2, 2};
  CHECK(errors({of_values}, options).empty());  // exp is in the first share
  options.shard = {1, 2};
  CHECK(errors({of_values}, options).size() == 1);
  Waiver rare = of_values;
  rare.tier = "full";
  CHECK(errors({rare}, asked({"exp"})).empty());
  options = asked({"exp"});
  options.tier = Tier::full;
  rare.dtype = "f32";
  CHECK(errors({rare}, options).size() == 1);
}

TEST_CASE("an expired waiver waives nothing and is an error where its operation is asked", "[waivers]") {
  Waiver w = waiver("exp");
  w.expires = "2026-06-30";
  Report report;
  CHECK(errors({w}, asked({"exp"}), &report).empty());  // its last day
  w.expires = "2026-06-29";
  const auto found = errors({w}, asked({"exp"}), &report);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "waiver 1 (exp): expired on 2026-06-29");
  CHECK(report.records[1].outcome.verdict == Verdict::fail);
  CHECK(errors({w}, asked({"relu"})).empty());
  CHECK_FALSE(conclusion(report).conforms);
}

TEST_CASE("a waiver of cases that there are not is an error", "[waivers]") {
  Waiver w = waiver("exp");
  w.check = "step";
  const auto found = errors({w}, asked({"exp"}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("there are not") != std::string::npos);
  CHECK(errors({w}, asked({"relu"})).empty());
}

TEST_CASE("the schema of waivers names every check and no other", "[waivers]") {
  std::ifstream in(std::string(ETALON_SOURCE_DIR) + "/docs/waivers.schema.json");
  const nlohmann::json fields = nlohmann::json::parse(in)["properties"]["waivers"]["items"]["properties"];
  std::vector<std::string> checks;
  for (std::size_t k = 0; k < check_count; ++k) checks.emplace_back(name_of(static_cast<Check>(k)));
  CHECK(fields["check"]["enum"].get<std::vector<std::string>>() == checks);
}

TEST_CASE("a file of waivers is validated", "[waivers]") {
  const std::string rest = R"("reason":"r","expires":"2031-01-31"})";
  const auto all = parse_waivers(
      file(R"({"operation":"exp","mode":"vjp","check":"special","dtype":"f32","tier":"full",)" + rest), "f", spec::Library());
  REQUIRE(all.size() == 1);
  CHECK(all[0].mode == "vjp");
  CHECK(all[0].tier == "full");
  CHECK(refusal(file("")).empty());
  CHECK(refusal("{") != "");
  CHECK(refusal("[]").find("known.json: waivers: expected an object") == 0);
  CHECK(refusal(R"({"waivers":[]})") == "known.json: schema: the field is missing");
  CHECK(refusal(R"({"schema":2,"waivers":[]})") == "known.json: schema: expected 1, found 2");
  CHECK(refusal(R"({"schema":1,"waiver":[]})") == "known.json: waivers: unknown key 'waiver'; did you mean 'waivers'?");
  CHECK(refusal(file(R"({"operation":"expp",)" + rest)) ==
        "known.json: waivers[0].operation: unknown operation 'expp'; did you mean 'exp'?");
  CHECK(refusal(file(R"({"operation":"exp","mod":"vjp",)" + rest)) == "known.json: waivers[0]: unknown key 'mod'; did you mean 'mode'?");
  CHECK(refusal(file(R"({"operation":"exp","mode":"vpj",)" + rest)) == "known.json: waivers[0].mode: unknown mode 'vpj'; did you mean 'vjp'?");
  CHECK(refusal(file(R"({"operation":"exp","dtype":"f33",)" + rest)) == "known.json: waivers[0].dtype: unknown dtype 'f33'; did you mean 'f32'?");
  CHECK(refusal(file(R"({"operation":"exp","expires":"2031-01-31"})")) == "known.json: waivers[0].reason: the field is missing");
  CHECK(refusal(file(R"({"operation":"exp","reason":" ","expires":"2031-01-31"})")).find("reason: expected words") != std::string::npos);
  for (const std::string date : {"2031-02-30", "2031-13-01", "31-01-2031", "2031-1-1", "tomorrow", "2031-01-01T00", "2031-+1-01", ""}) {
    INFO(date);
    CHECK(refusal(file(R"({"operation":"exp","reason":"r","expires":")" + date + "\"}")).find("waivers[0].expires") != std::string::npos);
  }
}

TEST_CASE("a waiver of several operations wants one of them to fail", "[waivers]") {
  Waiver several = waiver("exp");
  several.operations.emplace_back("log");
  Report report;
  CHECK(errors({several}, asked({}), &report).empty());
  CHECK(report.records[1].outcome.verdict == Verdict::waived);
  CHECK(report.waivers.front().operation == "exp, log");
  several.operations = {"log", "sin"};
  CHECK(errors({several}, asked({})) == std::vector<std::string>{"waiver 1 (log, sin): matches no failure; remove it"});
  // A run that leaves one of them out cannot know.
  CHECK(errors({several}, asked({"exp", "log"})).empty());
  const std::string text = R"({"schema": 1, "waivers": [{"operation": ["exp", "log"], "reason": "known", "expires": "2031-01-01"}]})";
  CHECK(parse_waivers(text, "known.json", spec::Library()).front().operations == std::vector<std::string>{"exp", "log"});
  CHECK(refusal(R"({"schema": 1, "waivers": [{"operation": ["exp", "lgo"], "reason": "known", "expires": "2031-01-01"}]})") ==
        "known.json: waivers[0].operation: unknown operation 'lgo'; did you mean 'log'?");
  CHECK(refusal(R"({"schema": 1, "waivers": [{"operation": [], "reason": "known", "expires": "2031-01-01"}]})").find("operation") !=
        std::string::npos);
}
