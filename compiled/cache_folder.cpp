#include "compiled/cache_folder.hpp"

#include <cstdlib>
#include <string_view>

namespace etalon::compiled {

std::filesystem::path default_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value == nullptr ? "" : value);
  };
  if (const auto own = variable("ETALON_CACHE"); !own.empty()) return own == "off" ? std::filesystem::path() : std::filesystem::path(own);
  if (const auto caches = variable("XDG_CACHE_HOME"); !caches.empty()) return std::filesystem::path(caches) / "etalon";
  if (const auto home = variable("HOME"); !home.empty()) return std::filesystem::path(home) / ".cache" / "etalon";
  return {};
}

}  // namespace etalon::compiled
