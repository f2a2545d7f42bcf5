// What is kept of compiled images, and when it is made anew.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cuda/kept_images.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

using namespace etalon;
using cuda::KeptImages;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, gone with it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("etalon_kept_images_" + std::to_string(::getpid()));
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

/// Asks for an image; says whether it was made.
bool is_made(const KeptImages& images, const std::string& text, const std::string& architecture, const std::string& image) {
  bool made = false;
  CHECK(images.image_of(text, architecture, [&] { return made = true, image; }) == image);
  return made;
}

}  // namespace

TEST_CASE("an image is made once for a text, an architecture and a compiler", "[cuda]") {
  const Folder folder;
  const std::string image("\0elf\n\xFF", 6);
  CHECK(is_made({folder.path, "a"}, "text", "sm_90", image));
  CHECK(!is_made({folder.path, "a"}, "text", "sm_90", image));
  CHECK(is_made({folder.path, "a"}, "text", "sm_80", image + "8"));
  CHECK(is_made({folder.path, "a"}, "other", "sm_90", image + "o"));
  CHECK(is_made({folder.path, "b"}, "text", "sm_90", image + "b"));
  CHECK(!is_made({folder.path, "a"}, "text", "sm_90", image));
  CHECK(folder.files().size() == 4);
  CHECK(fs::status(folder.path).permissions() == fs::perms::owner_all);
}

TEST_CASE("a damaged image is made anew", "[cuda]") {
  const Folder folder;
  const KeptImages images(folder.path, "a");
  CHECK(is_made(images, "text", "sm_90", "image"));
  const fs::path file = folder.files().at(0);
  const std::string whole = read_file(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    INFO(at);
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 1);
    write_file(file, broken);
    CHECK(is_made(images, "text", "sm_90", "image"));
    write_file(file, whole.substr(0, at));
    CHECK(is_made(images, "text", "sm_90", "image"));
    CHECK(!is_made(images, "text", "sm_90", "image"));
  }
}

TEST_CASE("an image that nobody used for a week goes, and nothing half-written stays", "[cuda]") {
  const Folder folder;
  const KeptImages images(folder.path, "a");
  CHECK(is_made(images, "old", "sm_90", "image"));
  const fs::path old = folder.files().at(0);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  CHECK(is_made(images, "new", "sm_90", "image"));
  CHECK(!fs::exists(old));
  CHECK_THROWS_AS(images.image_of("wrong", "sm_90", []() -> std::string { throw InternalError("no"); }), InternalError);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("without a folder images are made each time", "[cuda]") {
  CHECK(is_made({{}, "a"}, "text", "sm_90", "image"));
  CHECK(is_made({{}, "a"}, "text", "sm_90", "image"));
}
