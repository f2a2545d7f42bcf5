/// \file
/// Derivatives along some seeds alone: a tangent or cotangent that nobody gives makes no term. It knows no numbers.
#pragma once

#include <span>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// The system, whose inputs stay, without the terms that are linear in these inputs, tangents and cotangents that are not
/// given: what a product, a quotient or a sum makes of nothing is nothing, and no zero that meets an infinity.
/// Whatever reads one of them in another way reads 0.
[[nodiscard]] System without_seeds(const System& system, std::span<const TensorId> absent);

}  // namespace etalon::spec
