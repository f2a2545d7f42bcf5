/// \file
/// What changed between two runs. It judges neither.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// One case, or all cases of an operation, check, mode and type where the runs did not ask the same.
struct Change {
  std::string what;
  std::string before, after;  ///< verdicts; empty where it was not asked
  std::string finding;        ///< what is wrong now
};

/// What differs from the first run to the second.
struct Difference {
  bool same_cases = true;  ///< the runs asked the same questions: they are compared case by case
  std::vector<Change> worse;   ///< a failure that was none, or a pass that is none: regressions
  std::vector<Change> better;  ///< the other way round
  std::vector<Change> fresh;   ///< asked in the second run only, and fine there
  std::vector<Change> gone;    ///< asked in the first run only
  std::size_t unchanged = 0;
};

/// Cases are compared by id where specification, tier and seed agree; else what is worst of each kind. A failure that was not asked
/// before is a regression.
[[nodiscard]] Difference difference(const Report& before, const Report& after);

/// For people; long lists are cut.
void write_difference(std::ostream& out, const Difference& difference);

}  // namespace etalon::conformance
