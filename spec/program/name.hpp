/// \file
/// Which strings name the values of a program.
#pragma once

#include <string_view>

namespace etalon::spec {

/// Letters, digits, `_` and `.`, not starting with a digit or a dot; `_` alone stands for an absent operand.
[[nodiscard]] bool is_value_name(std::string_view name);

}  // namespace etalon::spec
