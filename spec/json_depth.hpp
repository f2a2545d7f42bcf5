/// \file
/// How deep a JSON text nests: asked before it is parsed, since what reads and writes JSON goes down recursively. It
/// knows no JSON beyond brackets and strings.
#pragma once

#include <cstddef>
#include <string_view>

namespace etalon::spec {

/// How many arrays and objects may stand in each other.
inline constexpr int deepest_json = 100;

/// Whether more of them do. Total: of what is no JSON, anything.
[[nodiscard]] constexpr bool is_too_deep(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest_json) return true;
    else if (!quoted && (c == ']' || c == '}')) --depth;
  }
  return false;
}

}  // namespace etalon::spec
