/// \file
/// Kernels from the text that `to_text` prints, or that somebody has changed or written by hand. What is read is what the text
/// says; whether it may run is for `verify` to say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// A kernel and the line in which it begins.
struct ParsedNest {
  Nest nest;
  std::size_t line = 1;
};

/// All kernels of a text. Empty lines, and those that begin with `--`, say nothing. Names are those of the system and of the text;
/// variables keep their numbers.
/// \param file for messages
/// \throws SpecViolation `FILE:LINE:COLUMN: expected …, found …`, one line
[[nodiscard]] std::vector<ParsedNest> parse_nests(const spec::System& system, std::string_view text, std::string_view file);

/// One kernel, and no other. \throws SpecViolation as above
[[nodiscard]] Nest parse_nest(const spec::System& system, std::string_view text);

}  // namespace etalon::compiled::loops
