/// \file
/// The fields of a contract in JSON: what each may be and what it says. It computes nothing.
#pragma once

#include <span>
#include <string_view>

#include "spec/contract/shape.hpp"

namespace etalon::spec {

/// The functions that a contract may bound, by the names that stand in JSON.
[[nodiscard]] std::span<const std::string_view> contract_functions();

/// What a contract is.
[[nodiscard]] const Shape& contract_shape();

}  // namespace etalon::spec
