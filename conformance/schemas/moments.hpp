/// \file
/// Moments that are updated by each element in turn.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The mean m of n elements and the sum of their squared distances from it by Welford's updates: m_j = m_(j-1) + (x - m_(j-1))/j
/// and s_j = s_(j-1) + (x - m_(j-1))·(x - m_j), in the place of each mean over a box, and of each sum of squared distances from
/// it over the same box.
/// Source: Welford, Note on a method for calculating corrected sums of squares and products, 1962; PyTorch's WelfordOps.
[[nodiscard]] std::optional<spec::System> with_updated_moments(const spec::System& system);

}  // namespace etalon::conformance
