#include "spec/program/checked_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "spec/program/fault.hpp"
#include "spec/program/wishes.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {
namespace {

/// The lines of the text that are definitions, on the lines on which they stand.
[[nodiscard]] std::string definitions_alone(const std::string& text, const std::vector<std::size_t>& lines) {
  std::string alone;
  std::size_t number = 1;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (std::binary_search(lines.begin(), lines.end(), number)) alone.append(text, at, end - at);
    alone += '\n';
    at = end + 1;
  }
  return alone;
}

/// A program, checked where its text is at hand.
class ProgramText {
 public:
  ProgramText(const std::string& text, const std::string& file, const Library& library) : file_(file), text_(text), library_(library) {
    if (text_.find_first_not_of(" \t\r\n") == std::string::npos) throw LocatedViolation(file_, {}, "the file is empty, expected a program");
  }

  [[nodiscard]] Program checked(Lines lines) {
    Program program = read(lines);
    if (!where_.definitions.empty()) (void)library_.with(definitions_alone(text_, where_.definitions), file_);
    add_definitions(program);
    try {
      verify(program);
    } catch (const PartViolation& error) {
      throw LocatedViolation(file_, place_of(error, where_, text_), error.what());
    } catch (const SpecViolation& error) {
      throw LocatedViolation(file_, {}, error.what());
    }
    if (program.outputs.empty() && all_updates(program).empty() && captures(program).empty())
      throw LocatedViolation(file_, {}, "the program has no outputs; expected a line `output NAME`");
    return program;
  }

 private:
  [[nodiscard]] Program read(Lines lines) {
    try {
      if (text_[text_.find_first_not_of(" \t\r\n")] == '{') return program_from_json(parse_json(text_, "program"), "program");
      return parse_program(text_, lines == Lines::of_the_text ? file_ : "", where_);
    } catch (const TextViolation& error) {
      throw LocatedViolation(file_, error.place(), error.why());
    } catch (const std::exception& error) {
      throw LocatedViolation(file_, {}, error.what());
    }
  }

  /// Those of the library become the program's own.
  void add_definitions(Program& program) const {
    std::vector<std::string> texts;
    for (const std::string& name : library_.added()) {
      for (const std::string& text : library_.texts_for(name)) {
        if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
      }
    }
    program.definitions.insert(program.definitions.begin(), texts.begin(), texts.end());
  }

  const std::string& file_;
  const std::string& text_;
  const Library& library_;
  PartLines where_;
};

}  // namespace

Program checked_program(const std::string& text, const std::string& file, const Library& library, Lines lines) {
  return ProgramText(text, file, library).checked(lines);
}

}  // namespace etalon::spec
