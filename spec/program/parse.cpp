#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "spec/notation/split.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/line_parser.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {
namespace {

/// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t number() const { return number_; }  ///< of the line taken last, from 1
  [[nodiscard]] std::string_view rest() const { return rest_; }
  std::string_view take() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++number_;
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// Whether these words, and nothing else, stand on the line.
[[nodiscard]] bool holds_only(std::string_view line, std::span<const std::string_view> words) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
  };
  for (const std::string_view word : words) {
    skip();
    if (line.substr(at, word.size()) != word) return false;
    at += word.size();
  }
  skip();
  return at == line.size();
}

constexpr std::array<std::string_view, 1> opening{"definitions"};
constexpr std::array<std::string_view, 2> closing{"end ", "definitions"};

/// The lines up to `end definitions`, as definitions of the program's own.
void definitions(Lines& lines, Program& program, PartLines& where) {
  const std::size_t first = lines.number();
  const std::string_view block = lines.rest();
  std::size_t size = 0;
  for (bool closed = false; !closed;) {
    if (lines.at_end()) throw TextViolation({first, 0}, "the definitions do not end; expected a line `end definitions`");
    size = block.size() - lines.rest().size();
    closed = holds_only(lines.take(), closing);
    if (!closed) where.definitions.push_back(lines.number());
  }
  for (const auto& one : split_definitions(block.substr(0, size))) {
    const Diagnosis& wrong = one->definition.diagnosis;
    if (!wrong.ok())
      throw TextViolation({first + one->line + std::max(wrong.line, 1U) - 1, std::max(wrong.column, 1U)}, std::string(wrong.rule()));
    program.definitions.push_back(one->text);
  }
}

/// What the program has more of since the last line stands on this one.
void note_parts(const Program& program, std::size_t line, PartLines& where) {
  const std::array<std::size_t, part_count> sizes{program.inputs.size(),  program.buffers.size(), program.steps.size(),
                                                  program.outputs.size(), program.updates.size(), program.wishes.size()};
  for (std::size_t part = 0; part < part_count; ++part) where.lines[part].resize(sizes[part], line);
}

/// A step without a source line gets this one.
void place(std::variant<Call, Differentiate, Assign>& step, const std::string& file, std::size_t line) {
  Source& source = std::visit([](auto& one) -> Source& { return one.source; }, step);
  if (!source.file.empty()) return;
  source.file = file;
  source.line = static_cast<std::uint32_t>(line);
}

}  // namespace

Program parse_program(std::string_view text) {
  PartLines where;
  return parse_program(text, "", where);
}

Program parse_program(std::string_view text, const std::string& file) {
  PartLines where;
  return parse_program(text, file, where);
}

Program parse_program(std::string_view text, const std::string& file, PartLines& where) {
  Program program;
  Lines lines(text);
  while (!lines.at_end()) {
    const std::string_view line = lines.take();
    const std::size_t before = program.steps.size();
    if (holds_only(line, opening)) definitions(lines, program, where);
    else parse_line(line, lines.number(), program);
    note_parts(program, lines.number(), where);
    if (!file.empty() && program.steps.size() > before) place(program.steps.back(), file, lines.number());
  }
  return program;
}

}  // namespace etalon::spec
