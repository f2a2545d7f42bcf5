/// \file
/// Guard solving of part of a system. The public entry is in simplify.hpp.
#pragma once

#include <cstddef>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Solves the guards of the equations from `first` on.
void solve_guards(System& system, std::size_t first);

}  // namespace etalon::spec
