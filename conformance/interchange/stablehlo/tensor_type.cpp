#include "conformance/interchange/stablehlo/tensor_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace etalon::conformance::stablehlo {

std::string_view element_name(DType dtype) { return dtype == DType::boolean ? "i1" : name_of(dtype); }

std::optional<DType> element_named(std::string_view name) {
  if (name == "bool") return std::nullopt;
  return name == "i1" ? DType::boolean : dtype_named(name);
}

std::int64_t count(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

bool fits(const Extents& extents) {
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (extent > longest_axis || (extent > 0 && elements > most / extent)) return false;
    elements *= std::max<std::int64_t>(extent, 1);
  }
  return true;
}

std::string to_text(const TensorType& type) {
  std::string text = "tensor<";
  for (const std::int64_t extent : type.extents) text += fmt::format("{}x", extent);
  return fmt::format("{}{}>", text, element_name(type.dtype));
}

}  // namespace etalon::conformance::stablehlo
