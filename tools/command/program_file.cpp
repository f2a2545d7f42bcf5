#include "tools/command/program_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/wishes.hpp"
#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

namespace {

/// What is thrown says `file:line:column: why`.
[[nodiscard]] SpecViolation located(const std::string& path, spec::Place place, const std::string& why) {
  const std::string column = place.column == 0 ? "" : fmt::format(":{}", place.column);
  return SpecViolation(place.line == 0 ? fmt::format("{}: {}", path, why) : fmt::format("{}:{}{}: {}", path, place.line, column, why));
}

/// The lines of the file that are definitions, on the lines on which they stand.
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

/// A program in a file, checked where its text is at hand.
class ProgramText {
 public:
  ProgramText(std::string path, spec::Library library) : path_(std::move(path)), text_(read_file(path_)), library_(std::move(library)) {
    if (text_.find_first_not_of(" \t\r\n") == std::string::npos) throw SpecViolation(path_ + ": the file is empty, expected a program");
  }

  [[nodiscard]] spec::Program checked(Lines lines) {
    spec::Program program = read(lines);
    if (!where_.definitions.empty()) (void)library_.with(definitions_alone(text_, where_.definitions), path_);
    add_definitions(program);
    try {
      spec::verify(program);
    } catch (const spec::PartViolation& error) {
      throw located(path_, place_of(error, where_, text_), error.what());
    } catch (const SpecViolation& error) {
      throw located(path_, {}, error.what());
    }
    if (program.outputs.empty() && spec::all_updates(program).empty() && spec::captures(program).empty())
      throw SpecViolation(path_ + ": the program has no outputs; expected a line `output NAME`");
    return program;
  }

 private:
  [[nodiscard]] spec::Program read(Lines lines) {
    try {
      if (text_[text_.find_first_not_of(" \t\r\n")] == '{') return spec::program_from_json(spec::parse_json(text_, "program"), "program");
      return spec::parse_program(text_, lines == Lines::of_the_file ? path_ : "", where_);
    } catch (const spec::TextViolation& error) {
      throw located(path_, error.place(), error.why());
    } catch (const std::exception& error) {
      throw located(path_, {}, error.what());
    }
  }

  /// Those of `--definitions` become the program's own.
  void add_definitions(spec::Program& program) const {
    std::vector<std::string> texts;
    for (const std::string& name : library_.added()) {
      for (const std::string& text : library_.texts_for(name)) {
        if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
      }
    }
    program.definitions.insert(program.definitions.begin(), texts.begin(), texts.end());
  }

  std::string path_;
  std::string text_;
  spec::Library library_;
  spec::PartLines where_;
};

}  // namespace

spec::Program program_in_file(const std::string& path, const std::string& definitions, Lines lines) {
  return ProgramText(path, library_with(definitions)).checked(lines);
}

std::string program_line(const spec::Program& program) { return spec::to_line(spec::program_to_json(program)); }

}  // namespace etalon::command
