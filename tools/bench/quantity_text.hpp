/// \file
/// Seconds, bytes and ratios as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace etalon::bench {

/// `4.31 µs`, `12.0 ms`, `1.25 s`: three digits.
[[nodiscard]] std::string time_text(double seconds);
/// `3.2 MiB`
[[nodiscard]] std::string memory_text(std::uint64_t bytes);
/// `0.031`, `1.04`, `12.3`, `311`: how many times, three digits at most.
[[nodiscard]] std::string ratio_text(double ratio);

}  // namespace etalon::bench
