#include "compiled/emit/debug_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include "spec/error.hpp"

namespace etalon::compiled {
namespace {

namespace fs = std::filesystem;

/// More programs than anybody debugs at a time.
constexpr int most_files = 10000;

[[noreturn]] void refuse(const fs::path& what, const std::error_code& error) {
  throw IoError(fmt::format("debug files: cannot write {}: {}", what.string(), error.message()));
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of this process's own; it gets its name when it is complete, so that nobody reads half a file.
fs::path written_aside(const fs::path& folder, std::string_view name, const std::string& text) {
  fs::path aside = folder / fmt::format(".{}-{}", name, getpid());
  std::ofstream out(aside, std::ios::binary);
  out << text;
  out.close();
  if (!out) refuse(aside, std::make_error_code(std::errc::io_error));
  return aside;
}

}  // namespace

DebugFiles::DebugFiles(const fs::path& folder) : folder_(folder.empty() ? folder : fs::absolute(folder)) {}

DebugFiles DebugFiles::from_environment() {
  const char* folder = std::getenv("ETALON_DEBUG_DIR");
  return folder == nullptr ? DebugFiles() : DebugFiles(folder);
}

fs::path DebugFiles::write(std::string_view name, const std::string& text) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) refuse(folder_, error);
  const fs::path aside = written_aside(folder_, name, text);
  fs::path file;
  for (int n = 1; n <= most_files; ++n) {
    file = folder_ / (n == 1 ? fmt::format("{}.txt", name) : fmt::format("{}-{}.txt", name, n));
    // A link fails where the name is taken, whoever was faster.
    fs::create_hard_link(aside, file, error);
    if (!error) break;
    if (error != std::errc::file_exists) break;
    if (text_of(file) == text) {
      error.clear();
      break;
    }
  }
  std::error_code ignored;
  fs::remove(aside, ignored);
  if (error) refuse(file, error);
  return file;
}

}  // namespace etalon::compiled
