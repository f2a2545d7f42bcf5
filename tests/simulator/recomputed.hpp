/// \file
/// Which elements a fusing compiler may compute anew where they are read: those that are computed from single elements.
#pragma once

#include <vector>

#include "spec/system/system.hpp"

namespace etalon::bounds_test {

/// Whether an expression needs no element and no index: hosts know its value.
[[nodiscard]] bool is_closed(const spec::Expr& e);

/// Per tensor the position of the equation that says how to compute any of its elements anew, or -1: one equation for
/// all elements of a real tensor, of 32 bits at least, from elements that are known before it,
/// of no more nodes than `reference::longest_recomputed`.
[[nodiscard]] std::vector<int> recomputable(const spec::System& system);

}  // namespace etalon::bounds_test
