/// \file
/// Clipping of gradients by what their norms were before. It knows no optimizer.
#pragma once

#include <cstdint>

#include "training/optimizer.hpp"

namespace etalon::training {

/// All gradients scaled by one number, so that the norm of all together is at most a percentile of the norms of the
/// last `window` steps, this one included: the least of these norms that so many percent of them do not exceed
/// (Seetharaman et al., 2020). The norms are kept beside the optimizer's state. \throws SpecViolation for percent that
/// are not from 0 to 100, or no window.
[[nodiscard]] GradientOperation clip_by_percentile(double percent, std::int64_t window);

}  // namespace etalon::training
