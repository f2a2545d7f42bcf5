/// \file
/// Some of the elements of several tensors.
#pragma once

#include <vector>

#include "spec/system/system.hpp"

namespace etalon::reference {

/// By tensor and row-major position.
using Selection = std::vector<std::vector<bool>>;

/// Every element of the outputs of a system.
[[nodiscard]] Selection everything(const spec::System& system);

/// Whether nothing is left out.
[[nodiscard]] bool all_of(const Selection& selection);

/// Whether anything is selected.
[[nodiscard]] bool any_of(const Selection& selection);

}  // namespace etalon::reference
