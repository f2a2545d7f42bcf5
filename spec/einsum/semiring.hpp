/// \file
/// What stands for the sum and the product of `einsum`.
#pragma once

#include <string_view>

namespace etalon::spec {

/// How the products of elements are formed and summed up, in the words of the notation.
struct Semiring {
  std::string_view name;
  std::string_view reduction;     ///< the sum over an index
  std::string_view sum;           ///< of two: an operator, or a function where `sum_is_function`
  bool sum_is_function = false;
  std::string_view product;       ///< of two: likewise
  bool product_is_function = false;
  std::string_view kind;          ///< of the operands
  std::string_view zero;          ///< of the sum; `empty` where it is an attribute
  std::string_view empty;         ///< that attribute's default
};

inline constexpr Semiring semirings[] = {
    {"sum_product", "sum", "+", false, "*", false, "number", "0", ""},
    {"max_plus", "max", "maximum", true, "+", false, "number", "empty", "-inf"},
    {"min_plus", "min", "minimum", true, "+", false, "number", "empty", "inf"},
    {"max_times", "max", "maximum", true, "*", false, "number", "empty", "-inf"},
    {"min_times", "min", "minimum", true, "*", false, "number", "empty", "inf"},
    {"max_min", "max", "maximum", true, "minimum", true, "number", "empty", "-inf"},
    {"min_max", "min", "minimum", true, "maximum", true, "number", "empty", "inf"},
    {"any_all", "any", "or", false, "and", false, "bool", "false", ""},
    {"all_any", "all", "and", false, "or", false, "bool", "true", ""},
};

/// The semiring of that name, or nullptr.
[[nodiscard]] constexpr const Semiring* semiring_named(std::string_view name) {
  for (const Semiring& s : semirings) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

}  // namespace etalon::spec
