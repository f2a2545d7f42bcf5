/// \file
/// Decay as a term of its own.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// p·(1 - b) - r as p - b·p - r. A sum p·(1 - b) + r is a mean of two, which nobody computes so.
/// Source: optax and Keras, whose weight decay is one more update.
[[nodiscard]] std::optional<spec::System> with_decay_apart(const spec::System& system);

}  // namespace etalon::conformance
