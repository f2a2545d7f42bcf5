#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/program/analysis.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/fault.hpp"

namespace etalon::spec {
namespace {

/// In the order of Accumulation.
constexpr std::array<std::string_view, 9> signs{"=", "+=", "-=", "*=", "/=", "max=", "min=", "and=", "or="};

[[nodiscard]] bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
[[nodiscard]] bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

[[nodiscard]] std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Reads a line from the left.
class Reader {
 public:
  explicit Reader(std::string_view line) : line_(line) { skip(); }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view rest() const { return line_.substr(at_); }

  [[nodiscard]] std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && (is_letter(line_[at_]) || (at_ > begin && (is_digit(line_[at_]) || line_[at_] == '.')))) ++at_;
    return taken(begin);
  }

  /// Whether no other word stands here.
  [[nodiscard]] bool word_is_last() const {
    const std::string_view sign = Reader(rest()).sign();
    return rest().empty() || !is_letter(rest()[0]) || !sign.empty();
  }

  /// The text between brackets; nothing when they do not close.
  [[nodiscard]] std::optional<std::string_view> brackets() {
    const std::size_t begin = at_ + 1;
    for (int depth = 0; at_ < line_.size(); ++at_) {
      if (line_[at_] == '[') ++depth;
      if (line_[at_] == ']' && --depth == 0) {
        const std::string_view inside = line_.substr(begin, at_++ - begin);
        skip();
        return trimmed(inside);
      }
    }
    return std::nullopt;
  }

  /// The sign that stands here, or nothing.
  [[nodiscard]] std::string_view sign() {
    const std::size_t begin = at_;
    const std::size_t reset = rest().starts_with(':') ? 1 : 0;
    for (const std::string_view s : signs) {
      if (!rest().substr(reset).starts_with(s) || (reset > 0 && s == "=")) continue;
      at_ += reset + s.size();
      return taken(begin);
    }
    return {};
  }

  /// Up to what says where the step comes from, or a comment.
  [[nodiscard]] std::string_view value() {
    const std::size_t begin = at_;
    at_ = std::min(line_.find_first_of("@#\"", at_), line_.size());
    std::string_view found = trimmed(line_.substr(begin, at_ - begin));
    constexpr std::string_view section = "section";
    if (at_ < line_.size() && line_[at_] == '"' && found.ends_with(section)) {
      found.remove_suffix(section.size());
      at_ = begin + line_.substr(begin, at_ - begin).rfind(section);
    }
    return trimmed(found);
  }

 private:
  [[nodiscard]] std::string_view taken(std::size_t begin) {
    const std::string_view text = line_.substr(begin, at_ - begin);
    skip();
    return text;
  }
  void skip() {
    while (at_ < line_.size() && is_space(line_[at_])) ++at_;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

[[noreturn]] void reject(std::size_t line, std::size_t at, const std::string& why) {
  throw TextViolation({line, at + 1}, why);
}

}  // namespace

std::string sign_of(const Assign& step) {
  return (step.reset ? ":" : "") + std::string(signs[static_cast<std::size_t>(step.accumulation)]);
}

bool read_sign(std::string_view sign, Assign& into) {
  into.reset = sign.starts_with(':');
  if (into.reset) sign.remove_prefix(1);
  const auto found = std::find(signs.begin(), signs.end(), sign);
  if (found == signs.end() || (into.reset && found == signs.begin())) return false;
  into.accumulation = static_cast<Accumulation>(found - signs.begin());
  return true;
}

std::optional<AssignmentText> assignment_in(std::string_view line, std::size_t line_number) {
  Reader in(line);
  AssignmentText result;
  Assign& step = result.assignment;
  step.buffer = in.word();
  if (step.buffer == "buffer" && !in.word_is_last()) {
    step.declares = true;
    step.buffer = in.word();
  }
  if (step.buffer.empty()) return std::nullopt;
  const bool places = in.rest().starts_with('[');
  if (places) {
    const std::size_t at = in.at();
    const auto found = in.brackets();
    if (!found) reject(line_number, at, "the bracket is not closed");
    step.places = *found;
  }
  const std::size_t at = in.at();
  const std::string_view sign = in.sign();
  if (!places && (sign.empty() || sign == "=")) return std::nullopt;
  if (!read_sign(sign, step))
    reject(line_number, at, "expected one of = += -= *= /= max= min= and= or=, perhaps after ':', found '" + std::string(first_character(in.rest())) + "'");
  step.value = in.value();
  if (step.value.empty()) reject(line_number, in.at(), "expected what is assigned, found nothing");
  result.end = in.at();
  return result;
}

Assign parse_assignment(std::string_view text) {
  auto found = assignment_in(text, 1);
  if (!found) throw SpecViolation("assignment: expected such as `g[i] += x[i]`, found '" + std::string(text) + "'");
  if (found->end != text.size()) reject(1, found->end, "expected the end of the assignment, found '" + std::string(first_character(text.substr(found->end))) + "'");
  return std::move(found->assignment);
}

std::string with_values(std::string_view text, const std::function<void(std::string&)>& change) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (is_digit(text[i])) {
      while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]) || (text[i] == '.' && text.substr(i, 2) != ".."))) ++i;
      result += text.substr(begin, i - begin);
    } else if (is_letter(text[i])) {
      while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]))) ++i;
      std::string name(text.substr(begin, i - begin));
      if (begin == 0 || text[begin - 1] != '.') change(name);  // `..i` is a row of indices
      result += name;
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::string summary(const Assign& step) {
  return fmt::format("{}{}[{}] {} {}", step.declares ? "buffer " : "", step.buffer, step.places, sign_of(step), step.value);
}

}  // namespace etalon::spec
