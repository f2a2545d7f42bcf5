/// \file
/// What a log says, as nested lines: sections hold steps, steps hold equations, equations hold elements with their operands.
/// Every format is a way to write these lines.
#pragma once

#include <string>
#include <vector>

#include "tools/log/log.hpp"

namespace etalon::logging {

/// A line, and those that stand under it.
struct Entry {
  std::string line;
  std::vector<Entry> inside{};
};

/// What the log is of: format, program, specification, backend, contract.
[[nodiscard]] std::vector<std::string> heading(const Log& log);

/// The program's text, a line each.
[[nodiscard]] std::vector<std::string> program_lines(const Log& log);

/// `x : f32[2] = [1.0, 2.0]` of each input.
[[nodiscard]] std::vector<Entry> given(const Log& log);

/// The assignments in the order in which they are computed. All numbers that were held stand in it, each tensor's on one line.
[[nodiscard]] std::vector<Entry> outline(const Log& log);

/// The text in double quotes, on one line.
[[nodiscard]] std::string in_quotes(const std::string& text);

/// ` @ "net.cpp":20`, or nothing where the source is not known.
[[nodiscard]] std::string place_of(const spec::Source& source);

/// An equation in the words of dumps: `h[i < 2, j < 4] = sum[k < 3] x[i, k] * w[j, k]`.
[[nodiscard]] std::string equation_text(const spec::System& system, std::size_t equation);

}  // namespace etalon::logging
