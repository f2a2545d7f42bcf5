#include "spec/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "spec/nearest.hpp"
#include "spec/quoted.hpp"

namespace etalon {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unreadable = "the file cannot be read", unwritable = "the file cannot be written";

/// `; did you mean 'step.txt'?` where a file of nearly that name stands in the same folder.
[[nodiscard]] std::string suggestion(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code failed;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_regular_file(failed)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string wanted = path.filename().string();
  const std::string nearest = nearest_name(wanted, names);
  const bool near = !nearest.empty() && edit_distance(wanted, nearest) <= 1 + wanted.size() / 4;
  return near ? "; did you mean '" + on_one_line(nearest) + "'?" : "";
}

/// An open file that is closed in the end.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  /// What is wrong with what was written shows here at the latest.
  [[nodiscard]] bool closed() {
    const int number = std::exchange(number_, -1);
    return close(number) == 0;
  }

 private:
  int number_;
};

/// 0, or what `errno` was.
[[nodiscard]] int written(const fs::path& path, std::string_view text) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.number() < 0) return errno;
  while (!text.empty()) {
    const ssize_t size = write(file.number(), text.data(), text.size());
    if (size < 0 && errno != EINTR) return errno;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }
  return file.closed() ? 0 : errno;
}

/// The file that takes the place of this one when all of it is there; this one itself where it is a pipe or a device.
[[nodiscard]] fs::path written_first(fs::path path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status) || fs::is_regular_file(status)) path += ".new";
  return path;
}

}  // namespace

IoError file_error(const fs::path& path, std::string_view what, int error) {
  return IoError(on_one_line(path.string()) + ": " + std::string(what) + ": " + std::generic_category().message(error));
}

std::string read_file(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) throw IoError(on_one_line(path.string()) + ": a folder, expected a file");
  const Descriptor file(path, O_RDONLY);
  if (file.number() < 0) {
    const int error = errno;
    throw IoError(file_error(path, unreadable, error).what() + (error == ENOENT ? suggestion(path) : ""));
  }
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t size = read(file.number(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw file_error(path, unreadable, errno);
    if (size == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

void write_file(const fs::path& path, std::string_view text) {
  const fs::path fresh = written_first(path);
  std::error_code failed;
  if (const int error = written(fresh, text); error != 0) {
    if (fresh != path) fs::remove(fresh, failed);
    throw file_error(path, unwritable, error);
  }
  if (fresh == path) return;
  fs::rename(fresh, path, failed);
  if (failed) throw file_error(path, unwritable, failed.value());
}

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& content) {
  std::ostringstream text;
  content(text);
  write_file(path, std::string_view(std::move(text).str()));
}

void check_writable(const fs::path& path) {
  const fs::path fresh = written_first(path);
  std::error_code failed;
  if (fs::is_directory(path, failed)) throw file_error(path, unwritable, EISDIR);
  if (const int error = written(fresh, ""); error != 0) throw file_error(path, unwritable, error);
  if (fresh != path) fs::remove(fresh, failed);
}

void make_folder(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) throw file_error(path, "the folder cannot be made", failed.value());
}

}  // namespace etalon
