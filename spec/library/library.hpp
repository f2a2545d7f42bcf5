/// \file
/// All definitions that come with Etalon, by name.
#pragma once

#include <span>
#include <string_view>

#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// Every definition, sorted by name.
[[nodiscard]] std::span<const Definition* const> library();

/// The definition of that name, or nullptr.
[[nodiscard]] const Definition* find_definition(std::string_view name);

/// The definition of that name. \throws SpecViolation naming the nearest one.
[[nodiscard]] const Definition& definition_named(std::string_view name);

}  // namespace etalon::spec
