/// \file
/// Element types of tensors, and the three kinds of scalar that equations distinguish.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace etalon {

/// Element type of a materialised tensor.
enum class DType : std::uint8_t { f16, bf16, f32, f64, i32, i64, boolean };

/// What a scalar in an equation is: a real number, an integer, or a truth value.
enum class Kind : std::uint8_t { real, integer, boolean };

/// The name used in text and JSON: `f32`, `i64`, `bool`, …
[[nodiscard]] constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::i32: return "i32";
    case DType::i64: return "i64";
    case DType::boolean: return "bool";
  }
  return "?";
}

/// The element type of that name, or nothing.
[[nodiscard]] constexpr std::optional<DType> dtype_named(std::string_view name) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    if (name_of(dtype) == name) return dtype;
  }
  return std::nullopt;
}

/// Bytes per element.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
    case DType::bf16: return 2;
    case DType::f32:
    case DType::i32: return 4;
    case DType::f64:
    case DType::i64: return 8;
    case DType::boolean: return 1;
  }
  return 0;
}

/// The kind of scalar that an element of this type is.
[[nodiscard]] constexpr Kind kind_of(DType dtype) {
  switch (dtype) {
    case DType::i32:
    case DType::i64: return Kind::integer;
    case DType::boolean: return Kind::boolean;
    default: return Kind::real;
  }
}

}  // namespace etalon
