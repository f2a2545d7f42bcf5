/// \file
/// The type of a tensor in StableHLO, `tensor<2x3xf32>`, of the element types that the library has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.hpp"

namespace etalon::conformance::stablehlo {

using Extents = std::vector<std::int64_t>;

/// Values inside of a function may have more axes than tensors of the library.
struct TensorType {
  DType dtype = DType::f32;
  Extents extents;
  [[nodiscard]] friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Of axes, and of the numbers of attributes: products of two of them are numbers of 64 bits, and places in tensors.
inline constexpr std::int64_t longest_axis = std::int64_t{1} << 31U;

/// Whether the axes are no longer, and the elements no more than 2^40.
[[nodiscard]] bool fits(const Extents& extents);
inline constexpr const char* too_large = "tensors of so many elements are not offered";

/// `i1` for truth values; the others have the library's names.
[[nodiscard]] std::string_view element_name(DType dtype);
[[nodiscard]] std::optional<DType> element_named(std::string_view name);

[[nodiscard]] std::string to_text(const TensorType& type);
[[nodiscard]] std::int64_t count(const Extents& extents);

}  // namespace etalon::conformance::stablehlo
