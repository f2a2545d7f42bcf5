#include "conformance/reports/journal.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "conformance/reports/json_lines.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::conformance {
Journal::Journal(std::optional<std::string> path, const Header& header, const std::vector<Record>& known)
    : path_(std::move(path)) {
  if (!grows()) return;
  write_file(*path_, [&](std::ostream& out) {
    out << header_line(header) << '\n';
    for (const Record& r : known) out << result_line(r) << '\n';
  });
}

// A pipe or a terminal is written once.
bool Journal::grows() const {
  if (!path_) return false;
  std::error_code error;
  const auto status = std::filesystem::status(*path_, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

void Journal::append(const std::vector<Record>& records) {
  if (records.empty() || !grows()) return;
  std::string lines;
  for (const Record& r : records) lines += result_line(r) + "\n";
  const std::lock_guard lock(mutex_);
  std::ofstream out(*path_, std::ios::binary | std::ios::app);
  out << lines;  // what cannot be written now is missed at the end too
}

void Journal::finish(const Report& report) {
  if (path_) write_file(*path_, [&](std::ostream& out) { write_json_lines(out, report); });
}

std::map<std::string, Record> earlier_results(const std::string& path, const Header& now) {
  Report earlier = read_report(path);
  const Header& then = earlier.header;
  const std::array<std::array<std::string, 3>, 6> facts{{
      {"specification", now.specification, then.specification},
      {"seed", fmt::format("{}", now.seed), fmt::format("{}", then.seed)},
      {"backend", now.backend, then.backend},
      {"version", now.version, then.version},
      {"tier", now.tier, then.tier},
      {"contract", now.contract_json, then.contract_json},
  }};
  for (const auto& [name, expected, found] : facts) {
    if (expected != found)
      throw SpecViolation(fmt::format("{}: is of another run: expected {} {}, found {}", path, name, expected, found));
  }
  std::map<std::string, Record> results;
  for (Record& r : earlier.records) {
    // At the end of a run a failure's record speaks of its smallest case.
    if (earlier.whole && (is_bad(r.outcome.verdict) || r.waived)) continue;
    results.emplace(r.id, std::move(r));
  }
  return results;
}

}  // namespace etalon::conformance
