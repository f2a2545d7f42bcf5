#include "tools/command/program_file.hpp"

#include <nlohmann/json.hpp>

#include "spec/file.hpp"
#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

spec::Program program_in_file(const std::string& path, const std::string& definitions, spec::Lines lines) {
  return spec::checked_program(read_file(path), path, library_with(definitions), lines);
}

std::string program_line(const spec::Program& program) { return spec::to_line(spec::program_to_json(program)); }

}  // namespace etalon::command
