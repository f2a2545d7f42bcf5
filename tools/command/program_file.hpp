/// \file
/// Programs in files, in either form.
#pragma once

#include <cstdint>
#include <string>

#include "spec/program/program.hpp"

namespace etalon::command {

/// Where steps come from that do not say so: nowhere, or the lines of the file that they stand on.
enum class Lines : std::uint8_t { as_said, of_the_file };

/// Reads text, or JSON where the first character is `{`. The definitions in the file `definitions`, if any is given,
/// become the program's own.
/// \throws IoError or SpecViolation naming the file.
[[nodiscard]] spec::Program program_in_file(const std::string& path, const std::string& definitions = {}, Lines lines = Lines::as_said);

/// The JSON form in one line.
[[nodiscard]] std::string program_line(const spec::Program& program);

}  // namespace etalon::command
