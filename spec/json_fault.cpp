#include "spec/json_fault.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "spec/quoted.hpp"

namespace etalon {

std::string malformed_json(std::string_view text, std::size_t byte, std::string_view what) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  // `[json.exception.…] parse error at …: syntax error while parsing value - WHY`
  const std::size_t dash = what.find(" - ");
  std::string why = dash == std::string_view::npos ? "" : ": " + as_quoted(what.substr(dash + 3));
  // What was read last may end within a character.
  std::replace_if(why.begin(), why.end(), [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; }, '?');
  return fmt::format("malformed JSON at line {}, column {}{}", line, column, why);
}

}  // namespace etalon
