/// \file
/// Differences of squares as products.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// t·(1 - y·y) as (t + t·y)·(1 - y).
/// Source: JAX's derivative of tanh.
[[nodiscard]] std::optional<spec::System> with_squares_apart(const spec::System& system);

}  // namespace etalon::conformance
