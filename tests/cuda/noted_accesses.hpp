/// \file
/// Which elements of their arguments threads of a kernel touch, side by side: its text is changed so that it writes down each access, and run on
/// the emulated device.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace etalon::test {

/// Of a program with one kernel: for how many sectors of 32 bytes a warp asks at a time, per argument. All threads of a warp must touch the same
/// arguments in the same order.
[[nodiscard]] std::map<std::string, std::set<std::size_t>> sectors_of(const std::string& program);

}  // namespace etalon::test
