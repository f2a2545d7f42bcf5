#include "compiled/emit/text/c_compiler.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <boost/core/noncopyable.hpp>

#include "spec/error.hpp"

namespace etalon::compiled::source {

namespace {

constexpr std::size_t quoted_message = 600;

/// A folder that is gone with this object.
class TemporaryFolder : boost::noncopyable {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "etalon-c-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw IoError("emit: no folder can be made in " + std::filesystem::temp_directory_path().string());
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

}  // namespace

Library::~Library() { dlclose(handle_); }

void* Library::symbol(const std::string& name) const {
  void* found = dlsym(handle_, name.c_str());
  if (found == nullptr) throw IoError("emit: the shared object does not define `" + name + "`");
  return found;
}

std::shared_ptr<Library> compile_c(const std::string& text, const CCompiler& compiler) {
  const auto kept = std::make_shared<const TemporaryFolder>();
  const TemporaryFolder& folder = *kept;
  const std::filesystem::path source = folder.path() / "program.c";
  const std::filesystem::path object = folder.path() / "program.so";
  const std::filesystem::path messages = folder.path() / "messages";
  {
    std::ofstream file(source, std::ios::binary);
    file << text;
    if (!file.flush()) throw IoError("emit: " + source.string() + " cannot be written");
  }
  const std::string command = compiler.command + " " + compiler.flags + " -fPIC -shared -o '" + object.string() + "' '" + source.string() +
                              "' -lm > '" + messages.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const std::string said = text_of(messages);
  constexpr int no_such_command = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_such_command) throw IoError("emit: there is no C compiler `" + compiler.command + "`");
  if (status != 0 || !said.empty()) throw InternalError("emit: " + compiler.command + " says of its text: " + said.substr(0, quoted_message));
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw IoError(std::string("emit: ") + dlerror());
  return std::make_shared<Library>(handle, compiler.keeps_file ? kept : nullptr);
}

}  // namespace etalon::compiled::source
