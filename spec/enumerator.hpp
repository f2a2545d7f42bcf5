/// \file
/// Values of enumerations by their names, of which each stands once, beside its enumeration. It knows none.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon {

/// The value of that name, or nothing. The values of E count from 0 in the order of the names.
template <class E, std::size_t n>
[[nodiscard]] constexpr std::optional<E> enumerator(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

/// \throws SpecViolation with the nearest names; `what` says what was to be named.
template <class E, std::size_t n>
[[nodiscard]] E enumerator_or_throw(const std::array<std::string_view, n>& names, std::string_view name, std::string_view what) {
  if (const auto found = enumerator<E>(names, name)) return *found;
  throw SpecViolation(unknown_name(what, name, std::vector<std::string>(names.begin(), names.end())));
}

}  // namespace etalon
