/// \file
/// Numbers that lie somewhere in host memory, one stride per axis, and their dense copy. It knows no framework.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/host_tensor.hpp"

namespace etalon::python {

/// The element types that there are, for messages.
inline constexpr std::string_view element_types = "f16, bf16, f32, f64, i32, i64, bool";

struct Strided {
  DType dtype = DType::f32;
  Dims dims;
  std::vector<std::int64_t> strides;  ///< in bytes, one per axis; of any sign
  const std::byte* origin = nullptr;  ///< the element with all indices 0
};

/// The elements in row-major order. Truth values become 0 and 1.
[[nodiscard]] HostTensor dense_of(const Strided& strided);

/// \throws pybind11::type_error beyond the most axes that a tensor has
[[nodiscard]] Dims dims_of(const std::int64_t* extents, std::size_t rank, const std::string& name);

}  // namespace etalon::python
