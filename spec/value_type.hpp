/// \file
/// The type of a value of a program: element type and extents.
#pragma once

#include <string>

#include "spec/dims.hpp"
#include "spec/dtype.hpp"

namespace etalon::spec {

struct ValueType {
  DType dtype = DType::f32;
  Dims dims;
  [[nodiscard]] friend constexpr bool operator==(const ValueType& a, const ValueType& b) {
    return a.dtype == b.dtype && a.dims == b.dims;
  }
};

/// Whether every element has a position, counted in bytes, of 64 bits. An axis of extent 0 counts as one of 1, so that
/// the strides of an empty tensor are numbers too.
[[nodiscard]] constexpr bool addressable(const ValueType& type) {
  auto bytes = static_cast<std::int64_t>(size_of(type.dtype));
  for (const std::int64_t extent : type.dims) {
    if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return false;
  }
  return true;
}

/// The text form `f32[2, 3]`.
[[nodiscard]] std::string to_string(const ValueType& type);

}  // namespace etalon::spec
