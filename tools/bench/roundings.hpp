/// \file
/// How many roundings at most stand one behind the other on the way to each output of a system: with the unit roundoff
/// the scale of the error that any order of evaluation may make where nothing cancels. It knows no values.
#pragma once

#include <vector>

#include "spec/system/system.hpp"

namespace etalon::bench {

/// Per output of the system. A sum of n terms counts n; an arithmetic primitive 1; any other primitive 4.
[[nodiscard]] std::vector<double> longest_chains(const spec::System& system);

}  // namespace etalon::bench
