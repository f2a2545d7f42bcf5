/// \file
/// One line of a program's text: a declaration, a step, an output, an update or a request. It knows no other line.
#pragma once

#include <cstddef>
#include <string_view>

#include "spec/program/program.hpp"

namespace etalon::spec {

/// Adds what the line says. \param number of the line, from 1, for messages \throws TextViolation
void parse_line(std::string_view line, std::size_t number, Program& program);

}  // namespace etalon::spec
