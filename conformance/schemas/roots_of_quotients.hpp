/// \file
/// Roots of quotients as quotients of roots.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// sqrt(a)/sqrt(b) in place of each sqrt(a/b): the same number where a and b are not negative.
/// Source: PyTorch's `exp_avg_sq.sqrt() / bias_correction2_sqrt`.
[[nodiscard]] std::optional<spec::System> with_roots_apart(const spec::System& system);

}  // namespace etalon::conformance
