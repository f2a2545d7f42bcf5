/// \file
/// A program in a text, read and checked while the text is at hand, so that what is wrong has a place in it. It knows no
/// file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/located.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {

/// Where steps come from that do not say so: nowhere, or the lines of the text that they stand on.
enum class Lines : std::uint8_t { as_said, of_the_text };

/// Reads text, or JSON where the first character is `{`, and verifies it. The definitions that were added to the library
/// become the program's own.
/// \param file what messages call the text
/// \throws LocatedViolation where the text is no well-typed program, or one that answers and updates nothing; SpecViolation
/// with a place for what is wrong with its definitions
[[nodiscard]] Program checked_program(const std::string& text, const std::string& file, const Library& library = {}, Lines lines = Lines::as_said);

}  // namespace etalon::spec
