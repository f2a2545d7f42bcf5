/// \file
/// Which reductions get a name of their own. The public entry is in simplify.hpp.
#pragma once

#include <cstddef>

#include "spec/system/system.hpp"

namespace etalon::spec {

enum class Naming : std::uint8_t {
  every,      ///< all that are not the whole right side
  nonlinear,  ///< positions, and all whose value a derivative needs: those not added into the right side as they are
  nested      ///< positions, and all that stand inside another reduction
};

/// Names the chosen reductions in the equations from `first` on.
void name_reductions(System& system, std::size_t first, Naming naming);

}  // namespace etalon::spec
