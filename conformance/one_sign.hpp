/// \file
/// Numbers of one sign throughout, for what takes extrema: a largest one that begins at 0, or whose rows are filled up with it,
/// is right wherever one number lies above it. It knows no operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// The sign of numbers that all lie on the far side of 0 from the extrema that the system takes: -1 for largest, 1 for smallest
/// ones; where it takes both, by turns. Nothing where it takes none.
[[nodiscard]] std::optional<double> sign_beyond_zero(const spec::System& system, std::uint64_t turn);

/// Every real number gets the sign; NaN stays, and so do integers.
void keep_one_sign(std::vector<std::optional<HostTensor>>& tensors, double sign);

}  // namespace etalon::conformance
