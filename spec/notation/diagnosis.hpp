/// \file
/// What is wrong with a definition or a call, as a value that also works at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace etalon::spec {

/// One line of text and a place in the definition; empty text means that nothing is wrong.
struct Diagnosis {
  static constexpr std::size_t capacity = 240;
  static constexpr std::uint32_t nowhere = 0xffffffffU;

  char text[capacity] = {};
  std::uint32_t size = 0;
  std::uint32_t size_without_place = 0;      ///< where ` (at line:column)` begins; 0 when there is no position
  std::uint32_t position = nowhere;  ///< byte offset into the definition's text
  std::uint32_t line = 0;            ///< of the position, from 1; 0 when there is no position
  std::uint32_t column = 0;
  bool full = false;  ///< something was left out

  [[nodiscard]] constexpr bool ok() const { return size == 0; }
  /// One line: `matmul: k is 3 in a, 4 in b (at 1:13)`.
  [[nodiscard]] constexpr std::string_view message() const { return {text, size}; }
  /// The same without ` (at line:column)`.
  [[nodiscard]] constexpr std::string_view rule() const { return {text, size_without_place > 0 ? size_without_place : size}; }

  constexpr Diagnosis& add(std::string_view part) {
    for (const char c : part) {
      // A character of several bytes is not begun near the end, lest it be cut.
      full = full || size == capacity || (size > capacity - 4 && (static_cast<unsigned char>(c) & 0xC0U) == 0xC0U);
      if (!full) text[size++] = c == '\n' ? ' ' : c;
    }
    return *this;
  }
  constexpr Diagnosis& add(std::int64_t number) {
    char digits[24] = {};
    std::size_t n = 0;
    std::uint64_t rest = number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
    do {
      digits[n++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) add("-");
    while (n > 0) {
      const char c = digits[--n];
      add(std::string_view(&c, 1));
    }
    return *this;
  }
  /// States where in the definition's text, and adds ` (at line:column)` to the message.
  constexpr Diagnosis& at(std::string_view definition, std::size_t offset) {
    position = static_cast<std::uint32_t>(offset);
    size_without_place = size;
    line = 1;
    column = 1;
    for (std::size_t i = 0; i < offset && i < definition.size(); ++i) {
      column = definition[i] == '\n' ? 1 : column + 1;
      line += definition[i] == '\n' ? 1U : 0U;
    }
    return add(" (at ").add(std::int64_t{line}).add(":").add(std::int64_t{column}).add(")");
  }
};

/// Several parts as one diagnosis.
template <class... Parts>
[[nodiscard]] constexpr Diagnosis diagnose(const Parts&... parts) {
  Diagnosis d;
  (d.add(parts), ...);
  return d;
}

}  // namespace etalon::spec
