/// \file
/// Where code is kept between processes unless a caller says otherwise.
#pragma once

#include <filesystem>

namespace etalon::compiled {

/// `ETALON_CACHE`, or etalon/ in `XDG_CACHE_HOME` or in ~/.cache. Empty, which keeps nothing, where `ETALON_CACHE` is `off`
/// or no variable says where.
[[nodiscard]] std::filesystem::path default_cache_folder();

}  // namespace etalon::compiled
