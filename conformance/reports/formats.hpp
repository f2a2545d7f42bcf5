/// \file
/// A report in the formats that others read. Every one is written from the report alone, so that a file of JSON lines
/// gives the same bytes later.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// Where each format is to be written; empty for those that nobody wants.
struct Formats {
  std::string html, junit, markdown, badge;
};

/// \throws IoError naming the file that cannot be written.
void write_formats(const Formats& formats, const Report& report);

/// One page that needs nothing else: a sortable table, the distribution of errors over bounds per operation, and each
/// failure with its equations, operands, interval and replay line.
void write_html(std::ostream& out, const Report& report);

/// A suite per operation, a test per check, mode and element type.
void write_junit(std::ostream& out, const Report& report);

/// A summary for pull requests and job pages.
void write_markdown(std::ostream& out, const Report& report);

/// An SVG of one line: conforms, or how much does not.
void write_badge(std::ostream& out, const Report& report);

/// Several runs by class of operations, as Markdown.
void write_scoreboard(std::ostream& out, const std::vector<Report>& reports);

/// The class of an operation, as docs/operations.txt has it.
[[nodiscard]] std::string class_of(const std::string& operation);

}  // namespace etalon::conformance
