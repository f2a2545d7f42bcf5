/// \file
/// The user's source line as a value that a default argument captures. It stands in for std::source_location, which
/// clang 14 with libstdc++ does not offer.
#pragma once

#include <cstdint>

namespace etalon {

struct SourceLine {
  const char* file = "";
  std::uint32_t line = 0;

  /// As a default argument: the line of the caller.
  [[nodiscard]] static constexpr SourceLine current(const char* file = __builtin_FILE(),
                                                    std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace etalon
