#include "spec/file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <unistd.h>
#include <ostream>
#include <string>

using namespace etalon;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone when the test is.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("etalon-file-test-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

std::size_t files_in(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.exists() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a file reads back whole, and a new one takes the old one's place", "[sound]") {
  const Folder folder;
  const fs::path file = folder.path / "a";
  const std::string bytes("a\0\xff\n\r", 5);
  write_file(file, bytes);
  CHECK(read_file(file) == bytes);
  const std::string much(300'000, 'x');
  write_file(file, [&](std::ostream& out) { out << much; });
  CHECK(read_file(file) == much);
  write_file(file, "");
  CHECK(read_file(file).empty());
  CHECK(files_in(folder.path) == 1);
}

TEST_CASE("a file that cannot be read or written is named with the system's reason", "[sound]") {
  const Folder folder;
  const std::string at = folder.path.string();
  write_file(folder.path / "step.txt", "old");
  CHECK_THROWS_WITH(read_file(folder.path / "setp.txt"), at + "/setp.txt: the file cannot be read: No such file or directory; did you mean 'step.txt'?");
  CHECK_THROWS_WITH(read_file(folder.path / "step.txt/x"), at + "/step.txt/x: the file cannot be read: Not a directory");
  CHECK_THROWS_WITH(read_file(folder.path), at + ": a folder, expected a file");
  CHECK_THROWS_WITH(read_file("/proc/self/mem"), "/proc/self/mem: the file cannot be read: Input/output error");
  CHECK_THROWS_WITH(write_file("/dev/full", "x"), "/dev/full: the file cannot be written: No space left on device");
  CHECK_THROWS_WITH(write_file(folder.path / "none/x", "x"), at + "/none/x: the file cannot be written: No such file or directory");
  CHECK_THROWS_WITH(write_file(folder.path, "x"), at + ": the file cannot be written: Is a directory");
  CHECK_THROWS_WITH(make_folder(folder.path / "step.txt"), Catch::StartsWith(at + "/step.txt: the folder cannot be made: "));
  CHECK_THROWS_AS(check_writable(folder.path), IoError);
  CHECK_THROWS_AS(check_writable(folder.path / "none/x"), IoError);
  CHECK_NOTHROW(check_writable(folder.path / "fresh"));
  CHECK_NOTHROW(check_writable(folder.path / "step.txt"));
  CHECK(read_file(folder.path / "step.txt") == "old");
  CHECK(files_in(folder.path) == 1);
}
