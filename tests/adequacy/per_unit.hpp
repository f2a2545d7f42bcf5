/// \file
/// Equations that are linear in one element of a tensor, as derivatives are in directions: what they say of 1 in its place.
/// It knows forms, and no operation.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::adequacy {

/// The value with 1 for the tensor's element, where that stands as a factor of each term exactly once, everywhere the same one and
/// in no reduction, condition, divisor or function; nothing elsewhere. The value is that times the element; terms that
/// one condition chooses are chosen together.
[[nodiscard]] std::optional<spec::Expr> per_unit(const spec::Expr& value, spec::TensorId tensor);

}  // namespace etalon::adequacy
