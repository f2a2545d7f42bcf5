/// \file
/// A pack's tests as arrays in the source of a language, for who reads no JSON. It knows no operation.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/pack/pack.hpp"

namespace etalon::conformance {

enum class ArrayLanguage : std::uint8_t { c, rust };
inline constexpr std::array<std::string_view, 2> array_language_names{"c", "rust"};

/// A header of C99, or a file of Rust to be included: types, then the tests of the operation in order. Absent tensors have an
/// empty element type. \param pack the pack's name, for the first line
[[nodiscard]] std::string arrays_of(const PackedOperation& operation, ArrayLanguage language, std::string_view pack);

}  // namespace etalon::conformance
