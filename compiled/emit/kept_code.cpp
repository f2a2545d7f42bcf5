#include "compiled/emit/kept_code.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "spec/sha256.hpp"

namespace etalon::compiled {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view beginning = "code-";
constexpr std::string_view magic = "etalon code 1\n";
constexpr std::chrono::hours unused{24 * 7};
constexpr std::size_t digits = 64;  // of a digest

}  // namespace

KeptCode::KeptCode(fs::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code error;
  // What lies here will run: nobody else should be able to write to it.
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  if (error) folder_.clear();
}

std::string KeptCode::key_of(std::string_view maker, std::string_view text) {
  return Sha256().add(maker, text).hexadecimal();
}

std::optional<std::string> KeptCode::find(const std::string& key) const {
  if (!is_on()) return std::nullopt;
  const fs::path file = folder_ / (std::string(beginning) + key);
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  const std::string all = std::move(bytes).str();
  const std::size_t head = magic.size() + digits;
  if (all.size() < head || !all.starts_with(magic)) return std::nullopt;
  std::string code = all.substr(head);
  if (all.substr(magic.size(), digits) != key_of(magic, code)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return code;
}

void KeptCode::keep(const std::string& key, std::string_view code) const {
  if (!is_on()) return;
  std::string temporary = (folder_ / "new-XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  (void)close(descriptor);
  std::error_code error;
  std::ofstream out(temporary, std::ios::binary);
  out << magic << key_of(magic, code) << code;
  out.close();
  if (out) fs::rename(temporary, folder_ / (std::string(beginning) + key), error);
  if (!out || error) fs::remove(temporary, error);
  prune();
}

std::string KeptCode::of(const std::string& key, const std::function<std::string()>& make) const {
  if (std::optional<std::string> kept = find(key)) return std::move(*kept);
  std::string code = make();
  keep(key, code);
  return code;
}

void KeptCode::prune() const {
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

}  // namespace etalon::compiled
