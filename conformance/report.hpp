/// \file
/// What a run found, as JSON lines and as a table for people. It judges nothing.
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "conformance/check.hpp"

namespace etalon::conformance {

/// One judged case.
struct Record {
  std::string id;
  CaseKey key;
  spec::Mode mode = spec::Mode::forward;
  Outcome outcome;
  std::vector<std::string> classes;  ///< of numbers and shapes that the case holds
  std::string case_json;  ///< types of a passing case, the whole (shrunk) case of a failing one
};

struct Totals {
  std::array<std::size_t, verdict_count> verdicts{};
  std::size_t comparisons = 0;
  std::size_t undecided = 0;  ///< comparisons where the bound says nothing useful
  [[nodiscard]] std::size_t of(Verdict v) const { return verdicts[static_cast<std::size_t>(v)]; }
  void add(const Record& record);
};

/// What a run is about: the first line of the JSON report and the first lines of the console's.
struct Header {
  std::string backend;
  std::string contract_json;
  std::string contract_text;
  std::string tier;
  std::string specification;  ///< the hash of all definitions
  std::uint64_t seed = 1;
  std::size_t operations = 0, operations_known = 0;
};

/// Operations of which more than one element in a hundred is undecided: they are not reported as passing.
[[nodiscard]] std::vector<std::string> undecided_operations(const std::vector<Record>& records);

/// Errors of the long sums of one operation in one mode and element type that are larger than independent roundings
/// make them, in the root of the mean square. Statistical: it hints at operands or sums of less precision than the
/// contract says, and fails nobody.
struct Warning {
  std::string operation, mode, dtype;
  reference::Statistic statistic;
};

/// Warnings over all passing records, by operation, mode and element type.
[[nodiscard]] std::vector<Warning> statistical_warnings(const std::vector<Record>& records);

/// Records must be sorted by id. Everything but `seconds` is the same for the same seed and answers.
void write_json(std::ostream& out, const Header& header, const std::vector<Record>& records, double seconds);

/// The table by operation and mode, then the totals.
void write_table(std::ostream& out, const Header& header, const std::vector<Record>& records, double seconds);

/// A counterexample with its operands, the expected interval, what was got, the equations and the replay line.
void write_counterexample(std::ostream& out, const std::string& backend, const std::string& id, const Case& c,
                          const Outcome& outcome);

}  // namespace etalon::conformance
