/// \file
/// The operations that C++ syntax on traced values stands for: the one place beside their definitions where
/// operations have names, since syntax needs a name to be sugar for.
#pragma once

#include <string_view>

namespace etalon::spec {

inline constexpr std::string_view operation_of_plus = "add";
inline constexpr std::string_view operation_of_minus = "sub";
inline constexpr std::string_view operation_of_times = "mul";
inline constexpr std::string_view operation_of_over = "div";
inline constexpr std::string_view operation_of_sign = "neg";
inline constexpr std::string_view operation_of_brackets = "gather";
inline constexpr std::string_view operation_of_real = "cast";

}  // namespace etalon::spec
