/// \file
/// Weighted means by their difference: w·p + (1 - w)·q from either end.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// p + (1 - w)·(q - p) in place of each w·p + (1 - w)·q.
/// Source: torch.lerp; Keras' `m + (g - m)*(1 - beta)`.
[[nodiscard]] std::optional<spec::System> from_the_first(const spec::System& system);

/// q + w·(p - q) in place of each.
/// Source: torch.lerp beyond a weight of one half; the gated recurrent unit of PyTorch and cuDNN, `(h - n)*z + n`.
[[nodiscard]] std::optional<spec::System> from_the_second(const spec::System& system);

}  // namespace etalon::conformance
