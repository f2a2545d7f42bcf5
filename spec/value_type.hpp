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

/// The text form `f32[2, 3]`.
[[nodiscard]] std::string to_string(const ValueType& type);

}  // namespace etalon::spec
