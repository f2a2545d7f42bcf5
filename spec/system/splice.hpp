/// \file
/// Puts the equations of one system into another. It knows nothing of programs or definitions.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Appends the equations and origins of `part` to `whole`; `place` says which tensor of `whole` stands for each tensor of
/// `part` that an equation reads or writes. An integer tensor that stands for a real one is read as a real.
/// \returns the number of the first origin appended.
std::int32_t splice(System& whole, const System& part, std::vector<TensorId> place);

}  // namespace etalon::spec
