// What is kept of compiled code, and when it is made anew.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compiled/emit/kept_code.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

using namespace etalon;
using compiled::KeptCode;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone with it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("etalon-kept-code-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const fs::directory_entry& e : fs::directory_iterator(path)) all.push_back(e.path());
    return all;
  }
};

/// Asks for code; says whether it was made.
bool is_made(const fs::path& folder, const std::string& maker, const std::string& text, const std::string& code) {
  bool made = false;
  CHECK(KeptCode(folder).of(KeptCode::key_of(maker, text), [&] { return made = true, code; }) == code);
  return made;
}

}  // namespace

TEST_CASE("code is made once for a text and a maker", "[compiled][cache]") {
  const Folder folder;
  const std::string code("\0elf\n\xFF", 6);
  CHECK(is_made(folder.path, "a", "text", code));
  CHECK(!is_made(folder.path, "a", "text", code));
  CHECK(is_made(folder.path, "a", "other", code + "o"));
  CHECK(is_made(folder.path, "b", "text", code + "b"));
  CHECK(!is_made(folder.path, "a", "text", code));
  CHECK(folder.files().size() == 3);
  CHECK(fs::status(folder.path).permissions() == fs::perms::owner_all);
}

TEST_CASE("damaged code is made anew, whatever byte is wrong or missing", "[compiled][cache]") {
  const Folder folder;
  CHECK(is_made(folder.path, "a", "text", "code"));
  const fs::path file = folder.files().at(0);
  const std::string whole = read_file(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    INFO(at);
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    write_file(file, broken);
    CHECK(is_made(folder.path, "a", "text", "code"));
    write_file(file, whole.substr(0, at));
    CHECK(is_made(folder.path, "a", "text", "code"));
    CHECK(!is_made(folder.path, "a", "text", "code"));
  }
}

TEST_CASE("code that nobody used for a week goes, and nothing half-written stays", "[compiled][cache]") {
  const Folder folder;
  CHECK(is_made(folder.path, "a", "old", "code"));
  const fs::path old = folder.files().at(0);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  CHECK(is_made(folder.path, "a", "new", "code"));
  CHECK(!fs::exists(old));
  CHECK_THROWS_AS(KeptCode(folder.path).of("wrong", []() -> std::string { throw InternalError("no"); }), InternalError);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("without a folder code is made each time", "[compiled][cache]") {
  CHECK(is_made({}, "a", "text", "code"));
  CHECK(is_made({}, "a", "text", "code"));
}
