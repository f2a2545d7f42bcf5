#include "spec/notation/split.hpp"

#include <algorithm>

#include "spec/notation/parse.hpp"

namespace etalon::spec {
namespace {

/// Longer than any definition that the parser accepts, so that the rest of a long text does not count.
constexpr std::size_t window = 60000;

/// `from`, or the end of the comment that stands behind it on the same line.
[[nodiscard]] std::size_t with_comment(std::string_view text, std::size_t from) {
  const std::size_t next = text.find_first_not_of(" \t", from);
  const bool comment = next != std::string_view::npos && text.substr(next, 2) == "--";
  return comment ? std::min(text.find('\n', next), text.size()) : from;
}

/// Where the definition that begins the text ends, with the comment on its last line.
[[nodiscard]] std::size_t end_of_definition(std::string_view text) {
  Definition first;
  first.text = text.substr(0, window);
  notation::DefinitionParser parser(first);
  parser.run(false);
  return first.ok() ? with_comment(text, parser.end()) : text.size();
}

[[nodiscard]] std::string_view without_blank_end(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::shared_ptr<const OwnedDefinition>> split_definitions(std::string_view text) {
  std::vector<std::shared_ptr<const OwnedDefinition>> all;
  std::uint32_t line = 1;
  while (lexer::next(text, 0).form != TokenForm::end) {
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const std::size_t begin = first == 0 ? 0 : text.rfind('\n', first - 1) + 1;  // npos + 1 is 0
    line += static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    text.remove_prefix(begin);
    const std::size_t end = end_of_definition(text);
    auto one = std::make_shared<OwnedDefinition>();
    one->text = without_blank_end(text.substr(0, end));
    one->definition = parse(one->text);
    one->line = line;
    line += static_cast<std::uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    text.remove_prefix(end);
    all.push_back(std::move(one));
    if (!all.back()->definition.ok()) break;
  }
  return all;
}

LocatedViolation located(const OwnedDefinition& definition, const Diagnosis& diagnosis, std::string_view file) {
  const std::uint32_t line = definition.line + std::max(diagnosis.line, 1U) - 1;
  return {file, {line, std::max(diagnosis.column, 1U)}, std::string(diagnosis.rule())};
}

}  // namespace etalon::spec
