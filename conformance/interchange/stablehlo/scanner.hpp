/// \file
/// The text of a module, word by word. It knows the tokens of MLIR and no grammar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/interchange/stablehlo/module.hpp"

namespace etalon::conformance::stablehlo {

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  /// Where the next token stands.
  [[nodiscard]] Position here();
  /// The line of the token before.
  [[nodiscard]] std::uint32_t line_before() const { return position_of(next_).line; }
  [[nodiscard]] bool at_end();
  /// Whether this comes next: signs as they stand, words as whole words.
  [[nodiscard]] bool sees(std::string_view token);
  /// The same, and passes over it.
  [[nodiscard]] bool takes(std::string_view token);
  void expect(std::string_view token);

  /// Letters, digits, `_`, `$` and points, beginning with no digit; nothing where none comes next.
  [[nodiscard]] std::string_view word();
  /// Whether a word comes next.
  [[nodiscard]] bool word_begins();
  /// The sign, whatever stands behind it: the `x` between extents.
  void expect_sign(char sign);
  /// `%x`, `%x#1`; nothing where none comes next.
  [[nodiscard]] std::string value_name();
  /// `@f` or `@"f"`, without the sign.
  [[nodiscard]] std::string symbol();
  [[nodiscard]] std::string quoted();
  /// Digits, perhaps hexadecimal or with a point and an exponent, and a sign before them; nothing where none comes
  /// next.
  [[nodiscard]] std::string_view number();
  /// Digits alone.
  [[nodiscard]] std::int64_t natural(const char* what);
  /// One character, whatever it is.
  char any();
  /// Passes over what stands between brackets of any kind, from the one that comes next to its counterpart.
  void pass_over_brackets();

  [[noreturn]] void fail(std::string_view expected);
  [[noreturn]] void fail_at(Position at, std::string_view what) const;

 private:
  void pass_over_space();
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] Position position_of(std::size_t at) const;

  std::string_view text_;
  std::string where_;
  std::size_t next_ = 0;
  mutable std::size_t counted_ = 0, line_begin_ = 0;
  mutable std::uint32_t line_ = 1;
};

}  // namespace etalon::conformance::stablehlo
