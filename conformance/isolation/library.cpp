#include "conformance/isolation/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <streambuf>

#include "conformance/serve.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

/// Writes to a descriptor.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    std::streamsize done = 0;
    while (done < count) {
      const ssize_t n = write(descriptor_, text + done, static_cast<std::size_t>(count - done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return done;
      done += n;
    }
    return done;
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

 private:
  int descriptor_;
};

}  // namespace

void* symbol_of_library(const std::string& path, const char* symbol, const char* kind) {
  // A path without a slash would be looked for among the system's libraries.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  // Never closed: what it registered to run at the end of the process must still be there.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw IoError(fmt::format("{}: {}", kind, dlerror()));
  void* found = dlsym(library, symbol);
  if (found == nullptr) throw IoError(fmt::format("{}: {} exports no {}", kind, path, symbol));
  return found;
}

void serve_loaded(const std::function<std::unique_ptr<spec::Backend>()>& load, std::istream& requests) {
  const int answers = dup(STDOUT_FILENO);
  if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw IoError(fmt::format("serve: no output: {}", std::strerror(errno)));
  DescriptorBuffer buffer(answers);
  std::ostream out(&buffer);
  const std::unique_ptr<spec::Backend> backend = load();
  serve(requests, out, *backend);
  close(answers);
}

}  // namespace etalon::conformance
