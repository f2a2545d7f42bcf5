/// \file
/// What a checker has to say to the author of an adapter. It knows no protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::conformance {

/// One sentence about one part of the conversation.
struct Remark {
  enum class Mark : std::uint8_t { ok, wrong, note };
  Mark mark = Mark::ok;
  std::string part;        ///< start, describe, forward, …
  std::string what;        ///< what was seen
  std::string advice{};    ///< what to do about it; nothing where all is well
  std::string request{};   ///< the line that was sent, shortened
  std::string answer{};    ///< the line that came, shortened
  std::size_t times = 1;   ///< how often the same was seen
};

[[nodiscard]] constexpr std::string_view name_of(Remark::Mark mark) {
  return mark == Remark::Mark::ok ? "ok" : mark == Remark::Mark::wrong ? "wrong" : "note";
}

}  // namespace etalon::conformance
