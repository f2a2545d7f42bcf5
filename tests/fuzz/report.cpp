#include <optional>
#include <sstream>

#include "conformance/reports/json_lines.hpp"
#include "conformance/waivers.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {
namespace {

[[nodiscard]] conformance::Report report_in(std::string_view text) {
  std::istringstream in{std::string(text)};
  return conformance::read_json_lines(in, "fuzzed");
}

[[nodiscard]] std::string written(const conformance::Report& report) {
  std::ostringstream out;
  conformance::write_json_lines(out, report);
  return out.str();
}

}  // namespace

void read_waivers(std::string_view text) {
  (void)accepted([&] { (void)conformance::parse_waivers(text, "fuzzed", {}); });
}

void read_report(std::string_view text) {
  std::optional<conformance::Report> report;
  if (!accepted([&] { report = report_in(text); })) return;
  const std::string once = written(*report);
  if (!accepted([&] { report = report_in(once); })) broken("a report that is written can be read", once);
  const std::string again = written(*report);
  if (again != once) broken("a report is the same after it was written", once + again);
}

std::vector<std::string> waivers_seeds() {
  return {R"({"schema":1,"about":"a","waivers":[{"operation":"exp","mode":"vjp","check":"vjp","dtype":"f32","tier":"full","reason":"table","expires":"2999-01-31"}]})",
          R"({"schema":1,"waivers":[{"operation":"exp","reason":"table","expires":"2999-02-28"}]})"};
}

std::vector<std::string> report_seeds() {
  conformance::Report report;
  report.header.backend = "b";
  report.header.contract_json = spec::to_json(spec::Contract{});
  report.header.tier = "quick";
  conformance::Record passed, failed;
  passed.id = conformance::id_of({"exp", conformance::Check::value, DType::f32, 0, 1, {}});
  passed.operation = "exp";
  passed.mode = "forward";
  passed.dtype = "f32";
  passed.check = "value";
  passed.case_json = R"({"operands":["f32[1]"],"attributes":{}})";
  passed.outcome.comparisons = 3;
  passed.classes = {"normal"};
  failed = passed;
  failed.id = conformance::id_of({"exp", conformance::Check::value, DType::f32, 1, 1, {}});
  failed.outcome.verdict = conformance::Verdict::fail;
  failed.outcome.why = "y[0]";
  failed.outcome.offender = conformance::Offender{"y", 0, 1, 2, 3, "nan"};
  report.records = {passed, failed};
  return {written(report)};
}

}  // namespace etalon::fuzz
