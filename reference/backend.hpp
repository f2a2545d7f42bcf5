/// \file
/// The reference behind the interface that every backend has.
#pragma once

#include <memory>

#include "spec/backend.hpp"

namespace etalon::reference {

/// Evaluates the equations of the whole program at 50 digits and rounds each answer once to its element type.
/// JVPs are dual numbers; VJPs are the transpose of the JVP while that takes few enough evaluations, and the symbolic
/// derivative beyond; JVPs of VJPs are dual numbers through the symbolic VJP.
[[nodiscard]] std::unique_ptr<spec::Backend> make_reference_backend();

}  // namespace etalon::reference
