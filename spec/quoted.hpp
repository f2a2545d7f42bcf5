/// \file
/// Words from outside as messages quote them. It knows no message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etalon {

/// Bytes of a word that are quoted: more than a name has.
inline constexpr std::size_t longest_quoted = 80;

/// The text with a space for each byte of a control character: those of ASCII and, in UTF-8, U+0080 to U+009F, which terminals obey too.
[[nodiscard]] inline std::string on_one_line(std::string_view text) {
  std::string line(text);
  unsigned char before = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    if (before == 0xC2U && c >= 0x80U && c < 0xA0U) line[i - 1] = line[i] = ' ';
    if (c < 32 || c == 127) line[i] = ' ';
    before = c;
  }
  return line;
}

/// The word on one line; a longer one is cut, between characters of UTF-8.
[[nodiscard]] inline std::string as_quoted(std::string_view word) {
  std::size_t size = word.size() < longest_quoted ? word.size() : longest_quoted;
  while (size < word.size() && size > 0 && (static_cast<unsigned char>(word[size]) & 0xC0U) == 0x80U) --size;
  const std::string text = on_one_line(word.substr(0, size));
  return size < word.size() ? text + "…" : text;
}

/// Its first character: all bytes of it, also where they are not UTF-8.
[[nodiscard]] constexpr std::string_view first_character(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return text.substr(0, end);
}

}  // namespace etalon
