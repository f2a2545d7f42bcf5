/// \file
/// Whether sanitizers watch this build. They look for what goes wrong in memory, which a sample of long computations shows; the
/// other builds compute all of them.
#pragma once

namespace etalon::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace etalon::test
