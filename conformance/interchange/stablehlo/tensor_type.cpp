#include "conformance/interchange/stablehlo/tensor_type.hpp"

#include <fmt/format.h>

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

std::string to_text(const TensorType& type) {
  std::string text = "tensor<";
  for (const std::int64_t extent : type.extents) text += fmt::format("{}x", extent);
  return fmt::format("{}{}>", text, element_name(type.dtype));
}

}  // namespace etalon::conformance::stablehlo
