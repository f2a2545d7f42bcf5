/// \file
/// What the command asks of the terminal and of the keyboard's interrupt. It knows no run.
#pragma once

#include <cstddef>
#include <string>

namespace etalon::command {

/// The width of the terminal that standard error is; 80 where it does not say.
[[nodiscard]] std::size_t terminal_columns();

/// On Ctrl-C writes the line to standard error before the process ends by the signal as ever.
void say_when_interrupted(const std::string& line);

}  // namespace etalon::command
