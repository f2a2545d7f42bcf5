/// \file
/// Programs in files, in either form.
#pragma once

#include <string>

#include "spec/program/checked_text.hpp"

namespace etalon::command {

/// Reads text, or JSON where the first character is `{`. The definitions in the file `definitions`, if any is given,
/// become the program's own.
/// \throws IoError or SpecViolation naming the file.
[[nodiscard]] spec::Program program_in_file(const std::string& path, const std::string& definitions = {}, spec::Lines lines = spec::Lines::as_said);

/// The JSON form in one line.
[[nodiscard]] std::string program_line(const spec::Program& program);

}  // namespace etalon::command
