#include "conformance/interchange/stablehlo/definition_text.hpp"

#include <fmt/format.h>

namespace etalon::conformance::stablehlo {

std::string extents_text(const interchange::Integers& extents) {
  return items_text(extents.size(), [&](std::size_t i) { return std::to_string(extents[i]); });
}

std::string operand_text(std::string_view name, const interchange::Integers& extents, DType dtype) {
  const Kind kind = kind_of(dtype);
  return fmt::format("{}{}{}", name, extents_text(extents),
                     kind == Kind::real      ? ""
                     : kind == Kind::integer ? " : number"
                                             : " : any");
}

std::string binders_text(std::string_view index, const interchange::Integers& extents) {
  return items_text(extents.size(), [&](std::size_t i) { return fmt::format("{}{} < {}", index, i, extents[i]); });
}

std::string items_text(std::size_t number, const std::function<std::string(std::size_t)>& item) {
  if (number == 0) return "";
  std::string text = "[";
  for (std::size_t i = 0; i < number; ++i) text += (i == 0 ? "" : ", ") + item(i);
  return text + "]";
}

std::string joined_conditions(const std::vector<std::string>& conditions) {
  std::string text;
  for (const std::string& condition : conditions) {
    if (!condition.empty()) text += (text.empty() ? "" : " and ") + condition;
  }
  return text;
}

}  // namespace etalon::conformance::stablehlo
