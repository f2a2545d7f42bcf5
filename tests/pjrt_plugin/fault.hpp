/// \file
/// What the fake plug-in does wrong, as the environment says: FAKE_PJRT is `KIND` or `KIND=WHERE`. It knows no function.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace etalon::test {

/// Whether this is what is done wrong, at this place if there are several. Asked anew each time: a test changes it as it goes.
[[nodiscard]] inline bool has_fault(std::string_view kind, std::string_view where = {}) {
  const char* text = std::getenv("FAKE_PJRT");
  std::string wanted(kind);
  if (!where.empty()) wanted.append("=").append(where);
  return text != nullptr && text == wanted;
}

}  // namespace etalon::test
