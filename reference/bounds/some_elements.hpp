/// \file
/// A system that answers some elements of another one's outputs and computes no more than these need, as far as the form of
/// the equations shows it. It knows no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::reference::bounds {

/// Output o of the result is a list: the elements of the system's output o at the row-major positions `wanted[o]`. Its
/// elements are computed as those of the system are, from the same inputs.
/// Tensors that are defined by one equation over all their elements are computed at those indices alone at which they are
/// read; others as a whole.
[[nodiscard]] spec::System with_some_elements(const spec::System& system, const std::vector<std::vector<std::size_t>>& wanted);

}  // namespace etalon::reference::bounds
