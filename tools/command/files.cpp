#include <fstream>
#include <iterator>

#include "spec/error.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path + ": the file cannot be read");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw IoError(path + ": the file cannot be read to its end");
  return text;
}

}  // namespace etalon::command
