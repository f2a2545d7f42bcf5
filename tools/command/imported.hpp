/// \file
/// What the formats that are imported have in common on the command line.
#pragma once

#include <string>
#include <vector>

#include "conformance/outcome.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

/// \throws Unsupported with the last line where something is refused; the others are printed before
void require_offered(const std::vector<std::string>& refused);

/// One line, or one line of JSON. \returns 0 where nothing failed and something was compared, 1 otherwise
[[nodiscard]] int show_verdict(const conformance::Outcome& outcome, const std::string& file, bool json);

/// `etalon import stablehlo`
void add_import_stablehlo(Command import_, Outcome& outcome);

}  // namespace etalon::command
