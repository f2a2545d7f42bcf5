/// \file
/// The file of JSON lines while a run goes on, so that an interrupted run can be resumed. It judges nothing.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

class Journal {
 public:
  /// Begins the file with the header and what is known already. Without a path, or where it is no ordinary file, nothing
  /// is written before the end.
  /// \throws IoError when the file cannot be written.
  Journal(std::optional<std::string> path, const Header& header, const std::vector<Record>& known);

  /// Results of any thread, in any order.
  void append(const std::vector<Record>& records);

  /// Puts the whole report in the place of what was written so far. \throws IoError
  void finish(const Report& report);

 private:
  [[nodiscard]] bool grows() const;

  std::optional<std::string> path_;
  std::mutex mutex_;
};

/// The results of an interrupted run by id; of a whole one those that are no failures.
/// \throws SpecViolation when the file is of another specification, seed, backend, contract or tier.
[[nodiscard]] std::map<std::string, Record> earlier_results(const std::string& path, const Header& now);

}  // namespace etalon::conformance
