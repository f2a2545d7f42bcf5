#include "cuda/kept_images.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spec/library/standard.hpp"

namespace etalon::cuda {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view beginning = "cubin-";
constexpr std::string_view magic = "etalon image 1\n";
constexpr std::chrono::hours unused{24 * 7};

std::string digest_of(std::string_view name, std::string_view bytes) {
  spec::standard::Hash hash;
  hash.add(name, bytes);
  return hash.hexadecimal();
}

}  // namespace

KeptImages::KeptImages(fs::path folder, std::string compiler) : folder_(std::move(folder)), compiler_(std::move(compiler)) {
  if (folder_.empty()) return;
  std::error_code error;
  // What lies here will run: nobody else should be able to write to it.
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  if (error) folder_.clear();
}

std::string KeptImages::image_of(const std::string& text, const std::string& architecture, const std::function<std::string()>& make) const {
  if (folder_.empty()) return make();
  const fs::path file = folder_ / (std::string(beginning) + digest_of(compiler_ + "\n" + architecture, text));
  if (std::optional<std::string> kept = found(file)) return std::move(*kept);
  std::string image = make();
  keep(file, image);
  return image;
}

std::optional<std::string> KeptImages::found(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  const std::string all = std::move(bytes).str();
  const std::size_t head = magic.size() + digest_of("", "").size();
  if (all.size() < head || !all.starts_with(magic)) return std::nullopt;
  std::string image = all.substr(head);
  if (all.substr(magic.size(), head - magic.size()) != digest_of(magic, image)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return image;
}

/// Under its name only when all of it is on disk. What cannot be written is not kept.
void KeptImages::keep(const fs::path& file, const std::string& image) const {
  std::string temporary = (folder_ / "new-XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  (void)close(descriptor);
  std::error_code error;
  std::ofstream out(temporary, std::ios::binary);
  out << magic << digest_of(magic, image) << image;
  out.close();
  if (out) fs::rename(temporary, file, error);
  if (!out || error) fs::remove(temporary, error);
  prune();
}

void KeptImages::prune() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    if (entry.path().filename().string().starts_with(beginning)) all.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::ranges::sort(all, std::greater<>());
  std::uintmax_t bytes = 0;
  for (const auto& [used, path] : all) {
    const std::uintmax_t own = fs::file_size(path, ignored);
    bytes += own;
    if (bytes > most_bytes || fs::file_time_type::clock::now() - used > unused) fs::remove(path, ignored);
  }
}

}  // namespace etalon::cuda
