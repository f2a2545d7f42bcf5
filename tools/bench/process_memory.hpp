/// \file
/// How much memory this process has, as Linux counts it. Elsewhere all of it is 0.
#pragma once

#include <cstdint>

namespace etalon::bench {

/// Bytes that are resident now.
[[nodiscard]] std::uint64_t resident_bytes();
/// The most bytes that were resident at once since the start or since `forget_peak`.
[[nodiscard]] std::uint64_t peak_bytes();
/// Counts the peak from now on, where the system allows it.
void forget_peak();

}  // namespace etalon::bench
