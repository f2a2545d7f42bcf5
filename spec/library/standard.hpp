/// \file
/// The definitions that come with Etalon. Each text is parsed when its definition is first asked for: a program names
/// few of them, and its first call should not wait for the rest.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spec/notation/definition.hpp"

namespace etalon::spec::standard {

/// The definition of that name, or nullptr.
[[nodiscard]] const Definition* find(std::string_view name);

/// Every definition, sorted by name.
[[nodiscard]] std::span<const Definition* const> definitions();

/// SHA-256 of all names and texts, in hexadecimal.
[[nodiscard]] const std::string& hash();

}  // namespace etalon::spec::standard
