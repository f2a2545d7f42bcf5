#include "compiled/machine/last_cache.hpp"

#include <fstream>
#include <string>

namespace etalon::compiled {

namespace {

constexpr const char* folder = "/sys/devices/system/cpu/cpu0/cache/index";
constexpr int least_last_level = 3;  // the second-level cache is a core's own

/// "32768K" in bytes; 0 where it is something else.
std::int64_t bytes_in(const std::string& text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == 0 || digits > 9 || digits + 1 != text.size()) return 0;
  const std::int64_t number = std::stoll(text.substr(0, digits));
  switch (text.back()) {
    case 'K': return number << 10U;
    case 'M': return number << 20U;
    case 'G': return number << 30U;
    default: return 0;
  }
}

}  // namespace

std::optional<std::int64_t> last_cache_bytes() {
  std::optional<std::int64_t> last;
  int last_level = least_last_level;
  for (int index = 0;; ++index) {
    const std::string at = folder + std::to_string(index);
    std::ifstream level_file(at + "/level");
    int level = 0;
    if (!(level_file >> level)) return last;
    std::ifstream size_file(at + "/size");
    std::string size;
    if (level < last_level || !(size_file >> size) || bytes_in(size) == 0) continue;
    last_level = level;
    last = bytes_in(size);
  }
}

}  // namespace etalon::compiled
