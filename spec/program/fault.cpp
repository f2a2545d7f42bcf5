#include "spec/program/fault.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace etalon::spec {
namespace {

[[nodiscard]] std::string_view line_in(std::string_view text, std::size_t number) {
  for (; number > 1; --number) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  return text.substr(0, text.find('\n'));
}

[[nodiscard]] bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Where the word stands alone, from `at` on; npos where it does not.
[[nodiscard]] std::size_t find_word(std::string_view line, std::string_view word, std::size_t at) {
  for (at = line.find(word, at); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(line[at - 1])) && (end == line.size() || !in_word(line[end]))) return at;
  }
  return at;
}

[[nodiscard]] std::size_t column_of(const Culprit& culprit, Part part, std::string_view line) {
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  if (culprit.column > 0) return first + culprit.column;
  if (culprit.word.empty()) return first + 1;
  // A declaration begins with its own word, which may be the name of a value too.
  const bool declares = part != Part::step;
  std::size_t from = declares ? std::min(line.find_first_of(" \t", first), line.size()) : first;
  const std::size_t sign = line.find('=', from);
  if (!culprit.is_made && sign != std::string_view::npos) from = sign;
  const std::size_t at = find_word(line, culprit.word, from);
  return (at == std::string_view::npos ? first : at) + 1;
}

}  // namespace

TextViolation::TextViolation(Place place, const std::string& why)
    : SpecViolation(place.column == 0 ? fmt::format("program: line {}: {}", place.line, why)
                                      : fmt::format("program: line {}, column {}: {}", place.line, place.column, why)),
      place_(place),
      why_(why) {}

std::size_t PartLines::line_of(Part part, std::size_t index) const {
  const std::vector<std::size_t>& all = lines[static_cast<std::size_t>(part)];
  return index < all.size() ? all[index] : 0;
}

Place place_of(const PartViolation& violation, const PartLines& lines, std::string_view text) {
  const std::size_t line = lines.line_of(violation.part(), violation.index());
  if (line == 0) return {};
  return {line, column_of(violation.culprit(), violation.part(), line_in(text, line))};
}

}  // namespace etalon::spec
