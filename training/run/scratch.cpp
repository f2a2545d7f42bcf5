#include "training/run/scratch.hpp"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "spec/file.hpp"

namespace etalon::training {

namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "etalon-replay-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw file_error(name, "no folder can be made", errno);
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace etalon::training
