/// \file
/// Which planted defect is on: the value of ETALON_BLIND, read once.
#pragma once

#include <cstdlib>
#include <string_view>

namespace blind {

inline std::string_view active_defect() {
  static const char* name = std::getenv("ETALON_BLIND");
  return name == nullptr ? std::string_view{} : std::string_view{name};
}

}  // namespace blind

/// Whether the defect of that name is on; each place asks the environment once.
#define PLANTED(name)                                          \
  ([] {                                                        \
    static const bool on = ::blind::active_defect() == (name); \
    return on;                                                 \
  }())
