/// \file
/// Numbers that change on their way from one equation to the next: narrower types, flushed subnormals, a second
/// rounding, sums in few bits. It knows types, and no operation.
#pragma once

#include <vector>

#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

/// Of every input, and of every tensor that one of the chosen equations gives.
void add_number_changes(const spec::System& system, const std::vector<bool>& chosen, std::vector<Change>& to);

/// The number in the type that its values are rounded to, ties to even.
[[nodiscard]] double rounded_to(double value, DType dtype);

}  // namespace etalon::adequacy
