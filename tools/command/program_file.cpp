#include "tools/command/program_file.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

namespace {

[[nodiscard]] spec::Program program_in(const std::string& path, Lines lines) {
  const std::string text = read_file(path);
  try {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{') return spec::program_from_json(spec::parse_json(text, "program"), "program");
    return lines == Lines::of_the_file ? spec::parse_program(text, path) : spec::parse_program(text);
  } catch (const SpecViolation& error) {
    throw SpecViolation(path + ": " + error.what());
  }
}

}  // namespace

spec::Program program_in_file(const std::string& path, const std::string& definitions, Lines lines) {
  spec::Program program = program_in(path, lines);
  const spec::Library library = library_with(definitions);
  std::vector<std::string> texts;
  for (const std::string& name : library.added()) {
    for (const std::string& text : library.texts_for(name)) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    }
  }
  program.definitions.insert(program.definitions.begin(), texts.begin(), texts.end());
  return program;
}

std::string program_line(const spec::Program& program) { return spec::to_line(spec::program_to_json(program)); }

}  // namespace etalon::command
