#include "compiled/ir/text_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::compiled::loops {

namespace {

constexpr std::size_t blanks = 2;         ///< of an indentation
constexpr std::size_t most_depth = 100;   ///< loops in each other

}  // namespace

void TextLine::refuse(const std::string& why, std::size_t column) const {
  throw SpecViolation(fmt::format("{}:{}:{}: {}", file, number, column, why));
}

TextLines::TextLines(std::string_view text, std::string_view file) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos || line.substr(begin).starts_with("--")) continue;
    lines_.push_back({line, file, number, begin / blanks});
    if (begin % blanks != 0) lines_.back().refuse(fmt::format("expected blanks in twos before the line, found {}", begin), 1);
    if (lines_.back().depth > most_depth) lines_.back().refuse(fmt::format("expected at most {} loops in each other, found more", most_depth), 1);
  }
}

const TextLine& TextLines::take(std::size_t depth, std::string_view expected) {
  if (at(depth)) return take();
  if (!at_end()) next().refuse(fmt::format("expected {} behind {} blanks, found {} blanks", expected, blanks * depth, blanks * next().depth), 1);
  last().refuse(fmt::format("expected {} on the next line, found the end", expected), last().text.size() + 1);
}

void TextLines::refuse_deeper() const {
  next().refuse(fmt::format("expected at most {} blanks before the line, found {}", blanks * last().depth, blanks * next().depth), 1);
}

}  // namespace etalon::compiled::loops
