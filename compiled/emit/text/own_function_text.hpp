/// \file
/// A function that is the compiler's own as C, which is also CUDA C++: a statement for each of its steps. It knows no step by name.
#pragma once

#include <string>

#include "compiled/machine/own_functions.hpp"

namespace etalon::compiled::source {

/// A definition with the marks that definitions of functions which come with a text have: `#` before their names, `~` for the suffix of
/// <math.h>'s functions.
struct OwnFunctionText {
  std::string name;
  std::string text;
  std::string needs;  ///< what it calls of them, separated by spaces
};
[[nodiscard]] OwnFunctionText own_function_text(const OwnFunction& function);

}  // namespace etalon::compiled::source
