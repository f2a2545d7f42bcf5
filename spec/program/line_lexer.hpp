/// \file
/// One line of a program's text as words, numbers, strings and marks, with the column of each. It knows no line's meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace etalon::spec {

struct LineToken {
  enum class Form : std::uint8_t { word, number, string, mark, end };
  Form form = Form::end;
  std::string text;
  std::size_t column = 0;
};

/// The line, token by token; its end is a token of form `end`.
class LineLexer {
 public:
  LineLexer(std::string_view line, std::size_t line_number, std::size_t start = 0)
      : line_(line), number_(line_number), at_(start) {
    advance();
  }

  [[nodiscard]] const LineToken& peek() const { return token_; }
  [[nodiscard]] bool at_end() const { return token_.form == LineToken::Form::end; }
  [[nodiscard]] bool is(std::string_view mark) const { return token_.form == LineToken::Form::mark && token_.text == mark; }
  [[nodiscard]] bool is_word(std::string_view word) const { return token_.form == LineToken::Form::word && token_.text == word; }

  LineToken take() {
    LineToken taken = std::move(token_);
    advance();
    return taken;
  }
  [[nodiscard]] bool accept(std::string_view mark) {
    if (!is(mark)) return false;
    advance();
    return true;
  }
  void expect(std::string_view mark) {
    if (!accept(mark)) fail("'" + std::string(mark) + "'");
  }
  [[nodiscard]] bool accept_word(std::string_view word) {
    if (!is_word(word)) return false;
    advance();
    return true;
  }
  [[nodiscard]] std::string take_word(std::string_view what) {
    if (token_.form != LineToken::Form::word) fail(what);
    return take().text;
  }

  /// \throws TextViolation that says where the token at hand stands, what was expected there, what was found, and the hint.
  [[noreturn]] void fail(std::string_view expected, std::string_view hint = {}) const;
  /// \throws TextViolation at that column of the line.
  [[noreturn]] void reject(const std::string& why, std::size_t column) const;

 private:
  void advance();
  /// A word may hold single dots, and a colon only in `bits:…`.
  void word();
  void number();
  void string();

  std::string_view line_;
  std::size_t number_;
  std::size_t at_;
  LineToken token_;
};

}  // namespace etalon::spec
