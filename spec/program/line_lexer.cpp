#include "spec/program/line_lexer.hpp"

#include <fmt/format.h>

#include "spec/program/fault.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

[[nodiscard]] bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
[[nodiscard]] bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void LineLexer::fail(std::string_view expected, std::string_view hint) const {
  const std::string found = at_end() ? "the end of the line" : "'" + as_quoted(token_.text) + "'";
  reject(fmt::format("expected {}, found {}{}{}", expected, found, hint.empty() ? "" : "; ", hint), token_.column);
}

void LineLexer::reject(const std::string& why, std::size_t column) const {
  throw TextViolation({number_, column}, why);
}

void LineLexer::advance() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) ++at_;
  token_ = {LineToken::Form::end, "", at_ + 1};
  if (at_ >= line_.size() || line_[at_] == '#') return;
  const char c = line_[at_];
  if (c == '"') return string();
  if (letter(c)) return word();
  if (digit(c) || ((c == '-' || c == '+') && at_ + 1 < line_.size() && (digit(line_[at_ + 1]) || letter(line_[at_ + 1]))))
    return number();
  const bool pair = line_.substr(at_, 2) == ".." || line_.substr(at_, 2) == ":=";
  const std::size_t length = pair ? 2 : first_character(line_.substr(at_)).size();
  token_ = {LineToken::Form::mark, std::string(line_.substr(at_, length)), at_ + 1};
  at_ += length;
}

void LineLexer::word() {
  const std::size_t begin = at_;
  while (at_ < line_.size() && (letter(line_[at_]) || digit(line_[at_]) || (line_[at_] == '.' && line_.substr(at_, 2) != ".."))) ++at_;
  if (line_.substr(begin, at_ - begin) == "bits" && at_ < line_.size() && line_[at_] == ':') {
    ++at_;
    while (at_ < line_.size() && (letter(line_[at_]) || digit(line_[at_]))) ++at_;
  }
  token_ = {LineToken::Form::word, std::string(line_.substr(begin, at_ - begin)), begin + 1};
}

void LineLexer::number() {
  const std::size_t begin = at_++;
  while (at_ < line_.size()) {
    const char c = line_[at_];
    const bool sign = (c == '-' || c == '+') && (line_[at_ - 1] == 'e' || line_[at_ - 1] == 'E');
    if (!digit(c) && !letter(c) && !sign && !(c == '.' && line_.substr(at_, 2) != "..")) break;
    ++at_;
  }
  token_ = {LineToken::Form::number, std::string(line_.substr(begin, at_ - begin)), begin + 1};
}

void LineLexer::string() {
  const std::size_t begin = at_++;
  std::string text;
  for (; at_ < line_.size() && line_[at_] != '"'; ++at_) {
    if (line_[at_] == '\\' && at_ + 1 < line_.size()) text += line_[++at_] == 'n' ? '\n' : line_[at_];
    else text += line_[at_];
  }
  if (at_ >= line_.size()) reject("the string has no closing quote", begin + 1);
  ++at_;
  token_ = {LineToken::Form::string, std::move(text), begin + 1};
}

}  // namespace etalon::spec
