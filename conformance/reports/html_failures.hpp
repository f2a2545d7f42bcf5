/// \file
/// The part of the HTML page that shows failures.
#pragma once

#include <iosfwd>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// By operation, most failures first: its equations, those of parts folded, then each failure, the smallest first; of many
/// of one kind the rest by id. Few failures are unfolded.
void write_failures(std::ostream& out, const Report& report);

}  // namespace etalon::conformance
