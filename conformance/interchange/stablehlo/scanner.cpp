#include "conformance/interchange/stablehlo/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
[[nodiscard]] bool is_hexadecimal(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
[[nodiscard]] bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
[[nodiscard]] bool is_in_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

}  // namespace

void Scanner::pass_over_space() {
  while (next_ < text_.size()) {
    const char c = text_[next_];
    if (c == '/' && at(next_ + 1) == '/') {
      while (next_ < text_.size() && text_[next_] != '\n') ++next_;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++next_;
    } else {
      return;
    }
  }
}

Position Scanner::position_of(std::size_t where) const {
  if (where < counted_) counted_ = 0, line_begin_ = 0, line_ = 1;
  for (; counted_ < where; ++counted_) {
    if (text_[counted_] == '\n') ++line_, line_begin_ = counted_ + 1;
  }
  return {line_, static_cast<std::uint32_t>(where - line_begin_ + 1)};
}

Position Scanner::here() {
  pass_over_space();
  return position_of(next_);
}

bool Scanner::at_end() {
  pass_over_space();
  return next_ == text_.size();
}

bool Scanner::sees(std::string_view token) {
  pass_over_space();
  if (!text_.substr(next_).starts_with(token)) return false;
  return !is_letter(token.front()) || !is_in_word(at(next_ + token.size()));
}

bool Scanner::takes(std::string_view token) {
  if (!sees(token)) return false;
  next_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token) {
  if (!takes(token)) fail(fmt::format("'{}'", token));
}

std::string_view Scanner::word() {
  pass_over_space();
  const std::size_t begin = next_;
  if (!is_letter(at(next_))) return {};
  while (is_in_word(at(next_))) ++next_;
  return text_.substr(begin, next_ - begin);
}

bool Scanner::word_begins() {
  pass_over_space();
  return is_letter(at(next_));
}

void Scanner::expect_sign(char sign) {
  pass_over_space();
  if (at(next_) != sign) fail(fmt::format("'{}'", sign));
  ++next_;
}

std::string Scanner::value_name() {
  pass_over_space();
  if (at(next_) != '%') return {};
  const std::size_t begin = next_++;
  const auto goes_on = [&] { return is_in_word(at(next_)) || (at(next_) == '-' && at(next_ + 1) != '>'); };
  while (goes_on()) ++next_;
  if (next_ == begin + 1) fail("the name of a value");
  if (at(next_) == '#' && is_digit(at(next_ + 1))) {
    ++next_;
    while (is_digit(at(next_))) ++next_;
  }
  return std::string(text_.substr(begin, next_ - begin));
}

std::string Scanner::symbol() {
  expect("@");
  if (at(next_) == '"') return quoted();
  const std::size_t begin = next_;
  while (is_in_word(at(next_)) || (at(next_) == '-' && at(next_ + 1) != '>')) ++next_;
  if (next_ == begin) fail("the name of a symbol");
  return std::string(text_.substr(begin, next_ - begin));
}

std::string Scanner::quoted() {
  expect("\"");
  const std::size_t begin = next_;
  while (next_ < text_.size() && text_[next_] != '"' && text_[next_] != '\n') next_ += text_[next_] == '\\' ? 2 : 1;
  if (at(next_) != '"') {
    next_ = std::min(begin, text_.size());
    fail("a text that ends on its line");
  }
  return std::string(text_.substr(begin, next_++ - begin));
}

std::string_view Scanner::number() {
  pass_over_space();
  const std::size_t begin = next_;
  std::size_t end = next_ + (at(next_) == '-' || at(next_) == '+' ? 1 : 0);
  if (!is_digit(at(end))) return {};
  if (at(end) == '0' && at(end + 1) == 'x' && is_hexadecimal(at(end + 2))) {
    end += 2;
    while (is_hexadecimal(at(end))) ++end;
  } else {
    while (is_digit(at(end))) ++end;
    if (at(end) == '.') {
      ++end;
      while (is_digit(at(end))) ++end;
      if (at(end) == 'e' || at(end) == 'E') {
        const std::size_t digits = end + 1 + (at(end + 1) == '-' || at(end + 1) == '+' ? 1U : 0U);
        if (is_digit(at(digits))) end = digits;
        while (is_digit(at(end))) ++end;
      }
    }
  }
  next_ = end;
  return text_.substr(begin, end - begin);
}

std::int64_t Scanner::natural(const char* what) {
  pass_over_space();
  const std::size_t begin = next_;
  while (is_digit(at(next_))) ++next_;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + next_, value);
  if (error != std::errc() || begin == next_) {
    next_ = begin;
    fail(what);
  }
  return value;
}

char Scanner::any() {
  pass_over_space();
  if (next_ == text_.size()) fail("more text");
  return text_[next_++];
}

void Scanner::pass_over_brackets() {
  std::size_t depth = 0;
  do {
    if (sees("\"")) {
      (void)quoted();
      continue;
    }
    if (takes("->")) continue;
    const char c = any();
    if (c == '(' || c == '[' || c == '{' || c == '<')
      ++depth;
    else if (c == ')' || c == ']' || c == '}' || c == '>')
      --depth;
  } while (depth > 0);
}

void Scanner::fail(std::string_view expected) {
  const Position at_token = here();
  std::size_t end = next_;
  while (end < text_.size() && end < next_ + 20 && static_cast<unsigned char>(text_[end]) > ' ') ++end;
  const std::string found = next_ == text_.size()
                                ? "the end of the text"
                                : fmt::format("'{}'", as_quoted(std::string(text_.substr(next_, end - next_))));
  fail_at(at_token, fmt::format("expected {}, found {}", expected, found));
}

void Scanner::fail_at(Position at_token, std::string_view what) const {
  throw IoError(fmt::format("{}:{}:{}: {}", where_, at_token.line, at_token.column, what));
}

}  // namespace etalon::conformance::stablehlo
