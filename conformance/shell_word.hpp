/// \file
/// A text as one word of the shell, for lines that readers run again.
#pragma once

#include <string>

namespace etalon::conformance {

/// In quotes where it holds anything that the shell reads as more than itself.
[[nodiscard]] std::string shell_word(const std::string& text);

}  // namespace etalon::conformance
