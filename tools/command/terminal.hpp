/// \file
/// What the command asks of the terminal and of the keyboard's interrupt. It knows no run.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>

namespace etalon::command {

/// The width of the terminal that the stream is; 80 where it does not say.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// The same of standard output, and nothing where that is no terminal: files have lines of any length.
[[nodiscard]] std::optional<std::size_t> output_columns();

/// Writes the line that the error is to a user, to standard error. \returns the exit status of a usage or set-up error
int say_what_is_wrong(const std::exception& error);

/// On Ctrl-C writes the line to standard error before the process ends by the signal as ever.
void say_when_interrupted(const std::string& line);

}  // namespace etalon::command
