/// \file
/// The size of the last cache before memory. It knows no other cache.
#pragma once

#include <cstdint>
#include <optional>

namespace etalon::compiled {

/// Bytes of the last-level cache that this machine's first processor reaches, as the operating system describes it to programs
/// (/sys/devices/system/cpu/cpu0/cache). sysconf is not asked: where a package has several such caches, it may answer with
/// their sum, of which a core can fill one. Nothing where there is no such description.
[[nodiscard]] std::optional<std::int64_t> last_cache_bytes();

}  // namespace etalon::compiled
