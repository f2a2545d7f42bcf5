/// \file
/// What tests tell the driver that stands in for libcuda.so.1 (driver.cpp).
#pragma once

namespace etalon::test {

/// A machine as the driver shall describe it, and a call that shall fail.
struct StandIn {
  int driver_version = 13000;
  int devices = 1;
  int capability = 90;
  long calls = 0;      ///< since somebody set it
  long fails_at = -1;  ///< the number of the call that fails, and no other; -1: none
  long memory = 0;     ///< blocks that are allocated
  long graphs = 0;     ///< that were made and not destroyed, instantiated or not
  long instantiations = 0;
};

/// The library's function of that name gives the one that it looks at.
inline constexpr const char* stand_in_symbol = "etalon_stand_in";
using StandInOf = StandIn* (*)();

}  // namespace etalon::test
