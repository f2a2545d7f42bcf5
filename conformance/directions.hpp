/// \file
/// What derivatives of a case are taken by, and along: which operands, which tangents and cotangents.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/draw.hpp"

namespace etalon::conformance {

/// Per operand that is there, whether it is differentiated by: a random subset of the real ones, never empty. Nothing
/// when none is real.
[[nodiscard]] std::vector<bool> draw_wrt(Draw& draw, const std::vector<std::optional<HostTensor>>& operands);

/// Tangents for the operands of `wrt`, cotangents for the real results, and in the mode that needs them tangents of these.
void draw_directions(Case& c, std::span<const spec::ValueType> results, Draw& draw);

}  // namespace etalon::conformance
