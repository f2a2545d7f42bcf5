/// \file
/// A report as lines of JSON, and back: written, read and written again it is the same bytes.
#pragma once

#include <iosfwd>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// The schema that is written and read; a file of another one is refused.
inline constexpr int report_schema = 1;

/// `{"tensor","element","dtype","lower","upper","got","admits"}` of the element that convicts.
[[nodiscard]] nlohmann::ordered_json to_json(const Offender& offender);
/// The verdict and what led to it, without the case: what `etalon judge` prints and what a result line holds.
[[nodiscard]] nlohmann::ordered_json to_json(const Outcome& outcome);

/// One line each, without its end.
[[nodiscard]] std::string header_line(const Header& header);
[[nodiscard]] std::string result_line(const Record& record);

/// The header, equations of operations with failures, results, a summary.
void write_json_lines(std::ostream& out, const Report& report);

/// Reads a report; of an interrupted run an unfinished last line is left out.
/// \param name stands in messages
/// \throws SpecViolation `name:line: what is wrong`, one line, for anything else
[[nodiscard]] Report read_json_lines(std::istream& in, const std::string& name);
/// \throws IoError when the file cannot be read.
[[nodiscard]] Report read_report(const std::string& path);

}  // namespace etalon::conformance
