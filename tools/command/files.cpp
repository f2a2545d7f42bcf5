#include "spec/file.hpp"
#include "spec/library/trial.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

spec::Library library_with(const std::string& path) {
  const spec::Library library;
  return path.empty() ? library : tried_out(library.with(read_file(path), path));
}

}  // namespace etalon::command
