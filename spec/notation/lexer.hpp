/// \file
/// The tokens of the notation. It knows no grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace etalon::spec {

enum class TokenForm : std::uint8_t { end, name, number, symbol, bad };

struct Token {
  TokenForm form = TokenForm::end;
  std::size_t begin = 0;
  std::string_view text;

  [[nodiscard]] constexpr bool is(std::string_view wanted) const {
    return form != TokenForm::end && form != TokenForm::number && text == wanted;
  }
};

namespace lexer {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// `x~` is the cotangent of x, `x'` its tangent.
[[nodiscard]] constexpr bool is_mark(char c) { return c == '~' || c == '\''; }

/// The first position from `i` on that is neither blank nor inside a comment (`--` to the end of the line).
[[nodiscard]] constexpr std::size_t skip_blank(std::string_view text, std::size_t i) {
  while (i < text.size()) {
    if (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
      ++i;
    } else if (text[i] == '-' && i + 1 < text.size() && text[i + 1] == '-') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else {
      break;
    }
  }
  return i;
}

[[nodiscard]] constexpr std::size_t number_end(std::string_view text, std::size_t i) {
  while (i < text.size() && is_digit(text[i])) ++i;
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1])) {
    ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
  }
  if (i < text.size() && text[i] == 'e') {
    std::size_t j = i + 1;
    if (j < text.size() && (text[j] == '-' || text[j] == '+')) ++j;
    if (j < text.size() && is_digit(text[j])) {
      while (j < text.size() && is_digit(text[j])) ++j;
      return j;
    }
  }
  return i;
}

/// What a number's text may be: digits and exponent that every reader of it can hold.
inline constexpr std::size_t most_digits = 1000;
inline constexpr int most_exponent = 999;

/// Whether a number's text is within these limits.
[[nodiscard]] constexpr bool is_within_limits(std::string_view number) {
  std::size_t i = 0;
  std::size_t digits = 0;
  for (; i < number.size() && number[i] != 'e'; ++i) digits += is_digit(number[i]) ? 1 : 0;
  int exponent = 0;
  for (; i < number.size() && exponent <= most_exponent; ++i) exponent = is_digit(number[i]) ? exponent * 10 + (number[i] - '0') : exponent;
  return digits <= most_digits && exponent <= most_exponent;
}

/// The integer of digits alone; false when there is something else or it does not fit.
[[nodiscard]] constexpr bool integer_of(std::string_view text, std::int64_t& value) {
  value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return false;
    if (__builtin_add_overflow(value, static_cast<std::int64_t>(c - '0'), &value)) return false;
  }
  return !text.empty();
}

[[nodiscard]] constexpr bool is_whole(std::string_view number) { return number.find_first_of(".e") == std::string_view::npos; }

[[nodiscard]] constexpr std::size_t symbol_length(std::string_view rest) {
  for (const std::string_view s : {"...", "..", "->", "//", "<=", ">=", "==", "!="}) {
    if (rest.substr(0, s.size()) == s) return s.size();
  }
  for (const char c : std::string_view("()[]{},:?@#&|+-*/%^<>=")) {
    if (rest.front() == c) return 1;
  }
  return 0;
}

/// The token that starts at or after `from`.
[[nodiscard]] constexpr Token next(std::string_view text, std::size_t from) {
  const std::size_t begin = skip_blank(text, from);
  if (begin >= text.size()) return {TokenForm::end, text.size(), {}};
  std::size_t end = begin;
  if (is_letter(text[begin])) {
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    if (end < text.size() && is_mark(text[end])) ++end;
    return {TokenForm::name, begin, text.substr(begin, end - begin)};
  }
  if (is_digit(text[begin])) {
    end = number_end(text, begin);
    return {TokenForm::number, begin, text.substr(begin, end - begin)};
  }
  const std::size_t length = symbol_length(text.substr(begin));
  if (length > 0) return {TokenForm::symbol, begin, text.substr(begin, length)};
  // A whole character of UTF-8, so that a message that quotes it stays valid.
  for (end = begin + 1; end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U;) ++end;
  return {TokenForm::bad, begin, text.substr(begin, end - begin)};
}

}  // namespace lexer

}  // namespace etalon::spec
