/// \file
/// The valid name that a mistyped one was probably meant to be, for error messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace etalon {

/// Single-character edits that turn `a` into `b`; a swap of neighbours counts as one.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the fewest single-character edits from `name` (the first of equals), or "" without candidates.
[[nodiscard]] std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// `unknown WHAT 'NAME'; did you mean 'NEAREST'?`, without the question where there is no candidate.
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace etalon
