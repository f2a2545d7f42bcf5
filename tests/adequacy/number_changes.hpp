/// \file
/// Numbers that change on their way from one equation to the next: narrower types, flushed subnormals, a second
/// rounding, sums in few bits. It knows types, and no operation.
#pragma once

#include <memory>
#include <vector>

#include "tests/adequacy/mutant.hpp"
#include "tests/adequacy/reach.hpp"

namespace etalon::adequacy {

/// Of every input, and of every tensor that one of the chosen equations gives. \param reaches of the system
/// \param first_output of those that are asked for
void add_number_changes(const spec::System& system, const std::vector<bool>& chosen, std::size_t first_output,
                        const std::shared_ptr<Reaches>& reaches, std::vector<Change>& to);

/// The number in the type that its values are rounded to, ties to even.
[[nodiscard]] double rounded_to(double value, DType dtype);

}  // namespace etalon::adequacy
