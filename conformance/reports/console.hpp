/// \file
/// A report for people at a terminal: the table, the totals, and counterexamples while they are made small.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// The first lines: who is held to what, by whose questions.
void write_heading(std::ostream& out, const Header& header);

/// The table by operation and mode, warnings, waivers, the totals and the conclusion.
/// \param width of a terminal: what it cannot hold beside the other columns stands below them
void write_table(std::ostream& out, const Report& report, std::optional<std::size_t> width = {});

/// The operands, attributes, directions and layouts of a case.
void write_case(std::ostream& out, const Case& c);

/// The equations that the case is about.
void write_equations(std::ostream& out, const Case& c);

/// A counterexample with its operands, the expected interval, what was got, the equations and the replay line.
/// \param replay the line that asks the case again
void write_counterexample(std::ostream& out, const std::string& replay, const std::string& id, const Case& c,
                          const Outcome& outcome);

/// `f32[2] {1, 2}`, at most sixteen elements.
[[nodiscard]] std::string values_text(const HostTensor& tensor);

}  // namespace etalon::conformance
