/// \file
/// Reductions of two tensors at once, as of numbers and their places: what is largest or smallest in the first, and
/// what the second has there. It knows no other reductions.
#pragma once

#include "conformance/interchange/stablehlo/translation.hpp"

namespace etalon::conformance::stablehlo {

/// `reduce` of operands x, q and what each begins with. \throws Refused
[[nodiscard]] Values reduced_pairs(Translation& t);

/// `reduce_window` of the same. \throws Refused
[[nodiscard]] Values reduced_windows_of_pairs(Translation& t);

}  // namespace etalon::conformance::stablehlo
