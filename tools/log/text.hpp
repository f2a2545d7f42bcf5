/// \file
/// Logs as text, the form that reads back. Numbers are the shortest that read back bit for bit.
#pragma once

#include <string>
#include <string_view>

#include "tools/log/log.hpp"

namespace etalon::logging {

[[nodiscard]] std::string to_text(const Log& log);

/// Reads what `to_text` has written. The numbers are read from the lines that hold whole tensors; all other lines must be
/// those that follow from them.
/// \param name of the log, for messages.
/// \throws SpecViolation `name: line: what is wrong` for any other text: cut, changed, or of another version.
[[nodiscard]] Log parse_log(std::string_view text, const std::string& name);

}  // namespace etalon::logging
